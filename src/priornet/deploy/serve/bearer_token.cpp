#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <priornet/core/lower_case.h>
#include <priornet/deploy/serve/bearer_token.h>

namespace priornet::serving {

std::string read_token(const std::filesystem::path& path) {
  constexpr size_t kLongest = 4096;
  InputFile file(path);
  std::string text(kLongest + 1, '\0');
  text.resize(file.read(text.data(), text.size()));
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  if (text.empty()) throw DataError(path.string() + ": should hold a token in its first line, which is empty");
  if (text.size() > kLongest) throw DataError(path.string() + ": should hold a token of at most 4096 bytes");
  return text;
}

bool carries_token(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size() ||
      lower_case(std::string(authorization.substr(0, kScheme.size()))) != kScheme)
    return false;
  const auto given = authorization.substr(kScheme.size());
  // Every byte that came is looked at, whatever the others are.
  volatile unsigned different = given.size() == token.size() ? 0U : 1U;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto expected = token.empty() ? '\0' : token[i % token.size()];
    different = different | static_cast<unsigned>(static_cast<unsigned char>(given[i] ^ expected));
  }
  return different == 0 && !token.empty();
}

}  // namespace priornet::serving
