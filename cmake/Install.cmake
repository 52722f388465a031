include(CMakePackageConfigHelpers)

install(TARGETS priornet EXPORT priornetTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/priornet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT priornetTargets NAMESPACE priornet:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/priornetConfig.cmake.in priornetConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet)
write_basic_package_version_file(priornetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/priornetConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/priornetConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/ReaderLibraries.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet)
