#pragma once

#include <string_view>

namespace priornet::serving {

/// The file in the body of a form: its first part with a file name, or the first part. `content_type` is that of the
/// request, with the boundary. ArgumentError where there is no boundary, no part, or no end of one. A view of `body`.
std::string_view file_of_form(std::string_view content_type, std::string_view body);

}  // namespace priornet::serving
