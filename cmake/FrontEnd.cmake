# priornet_front_end(folder): builds the report's script and style, as web/report/build.mjs left them in the folder, into
# the library (report/front_end.h). CMake runs again when one of them changes; nothing is downloaded and no node is needed.
function(priornet_front_end folder)
  foreach(part js css)
    set(file ${folder}/report.${part})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} ${part})
  endforeach()
  file(CONFIGURE OUTPUT front_end.cpp @ONLY CONTENT [[
#include <priornet/report/front_end.h>

namespace priornet {

std::string_view report_script() { return R"--report--(@js@)--report--"; }
std::string_view report_style() { return R"--report--(@css@)--report--"; }

}  // namespace priornet
]])
  target_sources(priornet PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/front_end.cpp)
endfunction()
