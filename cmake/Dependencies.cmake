find_package(Torch REQUIRED)
find_package(OpenMP REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
# A reader's library is found, not required: without it the reader says so at run time.
find_package(LibArchive)
