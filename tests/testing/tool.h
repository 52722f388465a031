#pragma once

#include <gtest/gtest.h>
#include <testing/process.h>
#include "learning/data/npy.h"

#include <string>
#include <string_view>
#include <vector>

namespace priornet {

/// Runs the priornet tool, in a process of its own (forked_tool.cpp). The arguments are without the program's name.
Outcome run_tool(const std::vector<std::string>& arguments);

/// Exit status 1, exactly this line on standard error, and nothing on standard output.
inline void expect_failure(const Outcome& outcome, const std::string& message) {
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "priornet: " + message + "\n");
}

/// Exit status 2, exactly this line on standard error, and nothing on standard output.
inline void expect_misuse(const Outcome& outcome, const std::string& message) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "priornet: " + message + "\n");
}

/// The words of a command whose only shell syntax is single quotes.
inline std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words{""};
  bool quoted = false;
  for (const char character : command) {
    if (character == '\'')
      quoted = !quoted;
    else if (character == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += character;
  }
  return words;
}

/// A folder of files to run the tool on; each function writes one and returns its path.
struct InputFiles : TemporaryFolder {
  std::string text(std::string_view name, std::string_view bytes) const { return file(name, bytes).string(); }
  std::string npy(std::string_view name, const torch::Tensor& values) const {
    write_npy(*this / name, values);
    return (*this / name).string();
  }
};

}  // namespace priornet
