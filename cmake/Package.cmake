# cpack -G DEB: one Debian package per component: the tool (priornet), the libraries with their headers
# (libpriornet-uncertainty-dev and so on; they are static), and the Python module (python3-priornet). Programs depend on the
# libraries that they were linked with.
set(CPACK_PACKAGE_NAME priornet)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_CONTACT "priornet contributors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENTS_ALL "")

# priornet_package(COMPONENT NAME SECTION WHAT [DEPENDS package...] [RECOMMENDS package...] [COMPONENTS component...]): a
# package with the files of an install component, which depends on other packages and on those of other components.
function(priornet_package component name section what)
  cmake_parse_arguments(PARSE_ARGV 4 package "" "" "DEPENDS;RECOMMENDS;COMPONENTS")
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${PROJECT_DESCRIPTION}: ${what}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DEPENDS ${package_COMPONENTS} PARENT_SCOPE)
  list(JOIN package_DEPENDS ", " depends)
  list(JOIN package_RECOMMENDS ", " recommends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
          COMPONENT ${component})
endfunction()

# The headers of LibTorch, where it is Debian's, and of the libraries that this build has found.
set(torch_package "")
if(TORCH_INSTALL_PREFIX STREQUAL "/usr")
  set(torch_package libtorch-dev)
endif()
set(reader_packages libfmt-dev nlohmann-json3-dev zlib1g-dev)
foreach(library LibArchive::LibArchive=libarchive-dev PNG::PNG=libpng-dev JPEG::JPEG=libjpeg62-turbo-dev
        priornet_reader::webp=libwebp-dev priornet_reader::gif=libgif-dev TIFF::TIFF=libtiff-dev
        priornet_reader::heif=libheif-dev priornet_reader::lmdb=liblmdb-dev priornet_reader::onednn=libdnnl-dev)
  string(REPLACE "=" ";" library ${library})
  list(GET library 0 target)
  list(GET library 1 package)
  if(TARGET ${target})
    list(APPEND reader_packages ${package})
  endif()
endforeach()

priornet_package(uncertainty libpriornet-uncertainty-dev libdevel "measures, losses, metrics, decisions"
                 DEPENDS ${torch_package})
priornet_package(learning libpriornet-learning-dev libdevel "data sets, networks, training"
                 DEPENDS ${reader_packages} COMPONENTS uncertainty)
priornet_package(deploy libpriornet-deploy-dev libdevel "model files, prediction, export" COMPONENTS learning)
if(TARGET priornet_tool)
  priornet_package(tool priornet science "the command-line tool" RECOMMENDS gnuplot-nox fonts-dejavu-core)  # figures
  set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
endif()
if(PRIORNET_PYTHON)
  priornet_package(python python3-priornet python "the Python module" DEPENDS python3-torch python3-numpy
                   RECOMMENDS python3-sklearn python3-tqdm)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
