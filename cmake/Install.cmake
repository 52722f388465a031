include(CMakePackageConfigHelpers)

# Each component is an install component of its own: its library, its public headers, its targets.
set(PRIORNET_COMPONENTS uncertainty learning deploy)
foreach(component IN LISTS PRIORNET_COMPONENTS)
  install(TARGETS priornet_${component} EXPORT priornet-${component} ARCHIVE COMPONENT ${component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/priornet/${component}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/priornet COMPONENT ${component})
  install(EXPORT priornet-${component} NAMESPACE priornet:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet
          COMPONENT ${component})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/include/priornet/version.h ${PROJECT_SOURCE_DIR}/include/priornet/uncertainty.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/priornet COMPONENT uncertainty)
install(FILES ${PROJECT_SOURCE_DIR}/include/priornet/learning.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/priornet COMPONENT learning)
install(FILES ${PROJECT_SOURCE_DIR}/include/priornet/deploy.h ${PROJECT_SOURCE_DIR}/include/priornet/priornet.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/priornet COMPONENT deploy)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/priornetConfig.cmake.in priornetConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet)
write_basic_package_version_file(priornetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/priornetConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/priornetConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet COMPONENT uncertainty)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/ReaderLibraries.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/priornet COMPONENT learning)

# For builds without CMake: pkg-config --cflags --libs --static priornet-uncertainty. LibTorch has no .pc file.
# Paths are relative to the file, so an installed tree can be moved.
file(RELATIVE_PATH pc_to_include ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(requires_uncertainty "")
set(requires_learning "priornet-uncertainty fmt zlib")
foreach(library LibArchive::LibArchive:libarchive PNG::PNG:libpng JPEG::JPEG:libjpeg priornet_reader::webp:libwebp
        priornet_reader::gif:libgif TIFF::TIFF:libtiff-4 priornet_reader::heif:libheif priornet_reader::lmdb:lmdb)
  string(REGEX MATCH "(.+):([a-z0-9-]+)" _ ${library})
  if(TARGET ${CMAKE_MATCH_1})
    string(APPEND requires_learning " ${CMAKE_MATCH_2}")
  endif()
endforeach()
set(requires_deploy "priornet-learning")
set(torch_flags "")
foreach(folder IN LISTS TORCH_INCLUDE_DIRS)
  if(NOT folder STREQUAL "/usr/include")
    string(APPEND torch_flags " -I${folder}")
  endif()
endforeach()
foreach(component IN LISTS PRIORNET_COMPONENTS)
  set(requires ${requires_${component}})
  set(more_libraries "")
  if(component STREQUAL "learning" AND TARGET priornet_reader::onednn)
    set(more_libraries " -ldnnl")  # it has no .pc file either
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/priornet.pc.in priornet-${component}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/priornet-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT ${component})
endforeach()
