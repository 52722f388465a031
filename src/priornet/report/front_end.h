#pragma once

#include <string_view>

// web/report/dist, built in (cmake/FrontEnd.cmake).

namespace priornet {

std::string_view report_script();
std::string_view report_style();

}  // namespace priornet
