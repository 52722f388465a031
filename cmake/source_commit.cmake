# Writes OUTPUT, a C++ source that names the commit of the folder SOURCE, unless it says so already.
find_package(Git QUIET)
set(commit unknown)
if(DEFINED ENV{PRIORNET_COMMIT})  # for sources that are packed without their history
  set(commit $ENV{PRIORNET_COMMIT})
elseif(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --show-prefix --short=12 HEAD
                  OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
  # Sources unpacked inside another repository do not belong to it: only the top of a repository counts.
  if(NOT failed AND said MATCHES "^\n([0-9a-f]+)\n$")
    set(commit ${CMAKE_MATCH_1})
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND commit -dirty)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "learning/base/run_record.h"

namespace priornet {

std::string_view source_commit() { return "@commit@"; }

}  // namespace priornet
]])
