# priornet_embed(TARGET pattern...): builds the text files of the repository that match into the target
# (src/tool/base/embedded_files.h). CMake runs again when one of them changes, appears or disappears.
function(priornet_embed target)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${ARGN})
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    file(READ ${PROJECT_SOURCE_DIR}/${file} text)
    string(APPEND entries "    {\"${file}\", R\"--file--(${text})--file--\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT embedded_texts.cpp @ONLY CONTENT [[
#include "tool/base/embedded_files.h"

namespace priornet {

std::span<const EmbeddedFile> embedded_files() {
  static const EmbeddedFile kFiles[] = {
@entries@  };
  return kFiles;
}

}  // namespace priornet
]])
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded_texts.cpp)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/embedded_texts.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
