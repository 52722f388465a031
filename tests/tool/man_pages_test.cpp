#include <fmt/format.h>
#include <testing/tool.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

// Man pages and completions against --help-json: every subcommand and every option is in each of them.

namespace priornet {
namespace {

using nlohmann::json;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Calls `see` with the words of each command, "priornet data get", and its entry.
void for_each_command(const json& command, std::vector<std::string> words,
                      const std::function<void(const std::vector<std::string>&, const json&)>& see) {
  words.push_back(command["name"]);
  see(words, command);
  for (const auto& below : command["subcommands"]) for_each_command(below, words, see);
}

std::string joined(const std::vector<std::string>& words, const std::string& by) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : by) + word;
  return text;
}

std::string without_escapes(std::string text) {
  for (auto at = text.find("\\-"); at != std::string::npos; at = text.find("\\-", at)) text.erase(at, 1);
  return text;
}

class Manual : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto made = run_tool({"manual", share_});
    ASSERT_EQ(made.status, 0) << made.err;
    listing_ = json::parse(run_tool({"--help-json"}).out);
  }

  // What a shell without a terminal prints; nothing if the shell is not installed.
  static std::string said_by(const std::string& shell, const std::string& script) {
    const auto done = run_process({"/usr/bin/env", shell, "-c", script});
    EXPECT_EQ(done.err, "");
    return done.out;
  }
  static bool has(const std::string& shell) { return std::filesystem::exists("/usr/bin/" + shell); }

  InputFiles files_;
  const std::string share_ = (files_ / "share").string();
  json listing_;
};

TEST_F(Manual, PagesNameEverySubcommandAndOption) {
  int64_t options = 0;
  for_each_command(listing_, {}, [&](const auto& words, const json& command) {
    const auto page = without_escapes(read_text(share_ + "/man/man1/" + joined(words, "-") + ".1"));
    EXPECT_NE(page.find(joined(words, "-") + " - " + command["summary"].get<std::string>()), std::string::npos) << page;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with('.') || line.starts_with('\'')) {
        static const std::set<std::string> kMacros = {".TH", ".SH", ".TP", ".B", ".BR", ".nf", ".fi"};
        EXPECT_TRUE(kMacros.contains(line.substr(0, line.find(' ')))) << "a text is read as a macro: " << line;
      }
    for (const auto& option : command["options"]) {
      ++options;
      const auto name = option["name"].get<std::string>();
      EXPECT_TRUE(page.find(".B " + name + "\n") != std::string::npos ||
                  page.find(".B " + name + " ") != std::string::npos)
          << joined(words, " ") << ": " << name;
    }
    for (const auto& below : command["subcommands"])
      EXPECT_NE(page.find(joined(words, "-") + "-" + below["name"].get<std::string>() + " (1)"), std::string::npos);
  });
  EXPECT_GT(options, 150);
}

TEST_F(Manual, CompletionsNameEverySubcommandAndOption) {
  const auto bash = read_text(share_ + "/bash-completion/completions/priornet");
  const auto zsh = read_text(share_ + "/zsh/site-functions/_priornet");
  const auto fish = read_text(share_ + "/fish/vendor_completions.d/priornet.fish");
  for_each_command(listing_, {}, [&](const auto& words, const json& command) {
    const auto where = joined(words, " ");
    const auto begin = bash.find(fmt::format("    '{}') words='", where));
    ASSERT_NE(begin, std::string::npos) << where;
    const auto bash_words = " " + bash.substr(bash.find("words='", begin) + 7, bash.find(" ;;", begin) - begin) + " ";
    const auto zsh_begin = zsh.find("_" + joined(words, "_") + "() {");
    ASSERT_NE(zsh_begin, std::string::npos) << where;
    const auto zsh_part = zsh.substr(zsh_begin, zsh.find("\n}\n", zsh_begin) - zsh_begin);
    const auto fish_at = fmt::format("complete -c priornet -n '__priornet_at {}' ", where);
    for (const auto& option : command["options"]) {
      const auto name = option["name"].get<std::string>();
      if (option["positional"]) continue;
      EXPECT_NE(bash_words.find(" " + name), std::string::npos) << where << ": " << name;
      EXPECT_NE(zsh_part.find(name + "["), std::string::npos) << where << ": " << name;
      EXPECT_NE(fish.find(fish_at + "-l " + name.substr(2) + " "), std::string::npos) << where << ": " << name;
    }
    for (const auto& below : command["subcommands"]) {
      const auto name = below["name"].get<std::string>();
      EXPECT_NE(bash_words.find(name), std::string::npos) << where << ": " << name;
      EXPECT_NE(zsh_part.find("'" + name + ":"), std::string::npos) << where << ": " << name;
      EXPECT_NE(fish.find(fish_at + "-f -a " + name + " "), std::string::npos) << where << ": " << name;
    }
  });
}

TEST_F(Manual, SaysWhichOptionsTakeSeveralValues) {
  const auto page = without_escapes(read_text(share_ + "/man/man1/priornet-calibrate.1"));
  const auto zsh = read_text(share_ + "/zsh/site-functions/_priornet");
  for (const auto* name : {"--watch", "--mean"}) {  // a list of texts, a list of numbers
    EXPECT_NE(page.find(fmt::format(".B {} VALUE...\n", name)), std::string::npos) << page;
    EXPECT_NE(zsh.find(fmt::format("'*{}[", name)), std::string::npos) << zsh;
  }
}

TEST_F(Manual, BashCompletesSubcommandsOptionsAndChoices) {
  const auto completed = [&](const std::string& words, int at) {
    return said_by("bash",
                   fmt::format("source '{}/bash-completion/completions/priornet'; COMP_WORDS=({}); COMP_CWORD={}; "
                               "_priornet; echo \"${{COMPREPLY[*]}}\"",
                               share_, words, at));
  };
  EXPECT_EQ(completed("priornet cal", 1), "calibrate\n");
  EXPECT_EQ(completed("priornet data sh", 2), "show\n");
  EXPECT_EQ(completed("priornet --threads 2 data sh", 4), "show\n");
  EXPECT_EQ(completed("priornet predict m --form", 3), "--format\n");
  EXPECT_EQ(completed("priornet predict m --format j", 4), "jsonl\n");
}

TEST_F(Manual, OtherShellsReadTheirs) {
  if (has("zsh")) {
    EXPECT_EQ(said_by("zsh", fmt::format("zsh -n '{}/zsh/site-functions/_priornet' && echo read", share_)), "read\n");
  }
  if (has("fish")) {
    const auto completed = [&](const std::string& line) {
      return said_by(
          "fish", fmt::format("source '{}/fish/vendor_completions.d/priornet.fish'; complete -C '{}'", share_, line));
    };
    EXPECT_EQ(completed("priornet calib"),
              "calibrate\tMake a model file from a run, with thresholds from held-out inputs\n");
    EXPECT_EQ(completed("priornet predict m --format js"),
              "jsonl\ttable, csv or jsonl; by default what --out ends with, or a table\n");
  }
}

TEST_F(Manual, SaysWhatCannotBeWritten) {
  const auto file = files_.text("taken", "");
  expect_failure(run_tool({"manual", file}), file + ": cannot be written: Not a directory");
}

}  // namespace
}  // namespace priornet
