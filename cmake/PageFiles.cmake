# priornet_page_files(folder): builds the server's page, index.html and the scripts and styles beside it, into the library
# (deploy/serve/page_files.h). CMake runs again when one of them changes.
function(priornet_page_files folder)
  set(entries "")
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.html ${folder}/*.js ${folder}/*.css)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    get_filename_component(extension ${file} LAST_EXT)
    set(path /page/${name})
    if(name STREQUAL "index.html")
      set(path /)
    endif()
    string(REPLACE ".html" "text/html" type ${extension})
    string(REPLACE ".js" "text/javascript" type ${type})
    string(REPLACE ".css" "text/css" type ${type})
    file(READ ${file} text)
    string(APPEND entries "    {\"${path}\", \"${type}; charset=utf-8\", R\"--page--(${text})--page--\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT page_files.cpp @ONLY CONTENT [[
#include <priornet/deploy/serve/page_files.h>

namespace priornet::serving {
namespace {

constexpr PageFile kPageFiles[] = {
@entries@};

}  // namespace

std::span<const PageFile> page_files() { return kPageFiles; }

}  // namespace priornet::serving
]])
  target_sources(priornet PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp)
endfunction()
