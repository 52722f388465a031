#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace priornet::serving {

/// The first line of a file. DataError: it cannot be read, is empty, or longer than 4096 bytes.
std::string read_token(const std::filesystem::path& path);

/// Whether an Authorization header carries the token: "Bearer TOKEN". How long it takes does not tell how much of the
/// token was right.
bool carries_token(std::string_view authorization, std::string_view token);

}  // namespace priornet::serving
