if(NOT PROJECT_IS_TOP_LEVEL)  # a project that adds this one as a subfolder links the same libraries
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
endif()
if(PRIORNET_CUDA)
  include(CudaArchitectures)  # LibTorch enables CUDA
endif()
find_package(Torch REQUIRED)
if(PRIORNET_CUDA AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25, Debian 12's, does not know it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(fmt REQUIRED)
# Newer LibTorches bring fmt's headers in their own version: then no fmt library of another version may be linked.
set(PRIORNET_FMT fmt::fmt)
foreach(folder IN LISTS TORCH_INCLUDE_DIRS)
  if(EXISTS ${folder}/fmt/format.h AND NOT folder STREQUAL "/usr/include")
    set(PRIORNET_FMT fmt::fmt-header-only)
  endif()
endforeach()
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)  # headers only
include(ReaderLibraries)
