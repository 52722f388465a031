#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/version.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "learning/base/file_io.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"

// Man pages and shell completions, from the same tables as --help and the parser, so that they always agree.

namespace priornet::tool {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// A command with the words that lead to it: "priornet data get".
struct Entry {
  const Command* command;
  std::vector<std::string> words;

  std::string joined(const char* by) const { return fmt::format("{}", fmt::join(words, by)); }
};

void add_entries(const Command& command, std::vector<std::string> words, std::vector<Entry>& entries) {
  words.push_back(command.name);
  entries.push_back({&command, words});
  for (const auto& subcommand : command.subcommands) add_entries(subcommand, words, entries);
}

/// What may follow those words: options of the command, --help, and the tool's options that may stand anywhere.
std::vector<Option> options_of(const Entry& entry, const Command& tool) {
  std::vector<Option> options;
  for (const auto& option : entry.command->options)
    if (!option.is_positional()) options.push_back(option);
  if (entry.command != &tool)
    for (const auto& option : tool.options)
      if (option.anywhere) options.push_back(option);
  Option help;
  help.name = "--help";
  help.to = Answer();
  help.help = "Print a help text and exit";
  options.push_back(std::move(help));
  return options;
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command.name);
  return names;
}

// ---- man pages

std::string roff(const std::string& words) {
  auto text = replaced(replaced("\n" + words, "\\", "\\e"), "-", "\\-");
  for (const char* mark : {".", "'"})  // at the start of a line they would be macros
    text = replaced(std::move(text), std::string("\n") + mark, std::string("\n\\&") + mark);
  return text.substr(1);
}

std::string value_name(const Option& option) {
  if (!option.value_text.empty()) return option.value_text;
  if (!option.choices.empty()) return fmt::format("{}", fmt::join(option.choices, "|"));
  return option.takes_several() ? "VALUE..." : "VALUE";
}

std::string man_option(const Option& option) {
  auto text = fmt::format(".TP\n.B {}", roff(option.name));
  if (!option.is_positional() && option.takes_value()) text += " " + roff(value_name(option));
  text += "\n" + roff(option.help) + ".";
  const auto defaults = values_of(option);
  if (option.shows_default && !defaults.empty()) text += roff(fmt::format(" By default {}.", fmt::join(defaults, " ")));
  if (!option.environment.empty()) text += roff(fmt::format(" Else the variable {}.", option.environment));
  if (!option.needs.empty()) text += roff(fmt::format(" Only with {}.", option.needs));
  if (!option.excludes.empty()) text += roff(fmt::format(" Not with {}.", option.excludes));
  return text + "\n";
}

std::string synopsis(const Entry& entry) {
  auto text = fmt::format(".B {}\n[OPTION]...", roff(entry.joined(" ")));
  if (!entry.command->subcommands.empty()) text += " SUBCOMMAND ...";
  for (const auto& option : entry.command->options)
    if (option.is_positional()) {
      const auto name = option.name + (option.takes_several() ? "..." : "");
      text += " " + (option.required ? name : "[" + name + "]");
    }
  return text + "\n";
}

std::string man_page(const Entry& entry, const Command& tool) {
  const auto& command = *entry.command;
  const auto name = entry.joined("-");
  auto title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  auto text = fmt::format(".TH {} 1 \"\" \"priornet {}\" \"User commands\"\n", roff(title), PRIORNET_VERSION);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", roff(name), roff(command.summary), synopsis(entry));
  if (!command.notes.empty()) text += ".SH DESCRIPTION\n" + roff(command.notes) + "\n";
  if (!command.subcommands.empty()) {
    text += ".SH SUBCOMMANDS\n";
    for (const auto& one : command.subcommands)
      text += fmt::format(".TP\n.BR {} (1)\n{}.\n", roff(name + "-" + one.name), roff(one.summary));
  }
  text += ".SH OPTIONS\n";
  for (const auto& option : command.options)
    if (option.is_positional()) text += man_option(option);
  for (const auto& option : options_of(entry, tool)) text += man_option(option);
  if (!command.examples.empty()) {
    text += ".SH EXAMPLES\n.nf\n";
    for (const auto& example : command.examples) text += roff(example) + "\n";
    text += ".fi\n";
  }
  text += ".SH EXIT STATUS\n0: done. 1: failed, with one line that says why. 2: the command line was wrong.\n";
  return entry.words.size() == 1 ? text : text + ".SH SEE ALSO\n.BR priornet (1)\n";
}

// ---- bash

std::string bash_completion(const std::vector<Entry>& entries, const Command& tool) {
  std::string cases;
  std::string values;
  for (const auto& entry : entries) {
    std::vector<std::string> words = names_of(entry.command->subcommands);
    for (const auto& option : options_of(entry, tool)) {
      words.push_back(option.name);
      if (!option.choices.empty())
        values += fmt::format("    '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                              entry.joined(" "), option.name, fmt::join(option.choices, " "));
    }
    for (const auto& option : entry.command->options)
      if (option.is_positional()) words.insert(words.end(), option.choices.begin(), option.choices.end());
    cases += fmt::format("    '{}') words='{}' ;;\n", entry.joined(" "), fmt::join(words, " "));
  }
  std::string steps;
  for (const auto& entry : entries)
    if (!entry.command->subcommands.empty())
      for (const auto& name : names_of(entry.command->subcommands))
        steps += fmt::format("      '{} {}') command+=\" $one\" ;;\n", entry.joined(" "), name);
  return fmt::format(R"(# bash completion of priornet; written by priornet manual
_priornet() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=priornet words= one
  for one in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $one" in
{}    esac
  done
  case "$command $before" in
{}  esac
  case $command in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _priornet priornet ./priornet
)",
                     steps, values, cases);
}

// ---- zsh

std::string zsh_text(std::string text) {
  text = replaced(std::move(text), "'", "'\\''");
  for (const char* mark : {"[", "]", ":"}) text = replaced(std::move(text), mark, std::string("\\") + mark);
  return text;
}

std::string zsh_option(const Option& option) {
  auto text = fmt::format("'{}{}[{}]", option.takes_several() ? "*" : "", option.name, zsh_text(option.help));
  if (option.takes_value())
    text += option.choices.empty() ? std::string(":value:_files")
                                   : fmt::format(":value:({})", fmt::join(option.choices, " "));
  return text + "'";
}

std::string zsh_function(const Entry& entry, const Command& tool) {
  auto text = fmt::format("_{}() {{\n", entry.joined("_"));
  const auto& below = entry.command->subcommands;
  if (!below.empty()) text += "  local state line\n";
  text += fmt::format("  _arguments{}", below.empty() ? "" : " -C");
  for (const auto& option : options_of(entry, tool)) text += " \\\n    " + zsh_option(option);
  if (below.empty()) return text + " \\\n    '*:input:_files'\n}\n";
  text += " \\\n    '1:subcommand:->subcommand' \\\n    '*::argument:->argument'\n  case $state in\n  subcommand)\n";
  text += "    local -a names=(";
  for (const auto& one : below) text += fmt::format("\n      '{}:{}'", one.name, zsh_text(one.summary));
  text += ")\n    _describe subcommand names ;;\n  argument)\n    case $line[1] in\n";
  for (const auto& one : below) text += fmt::format("    {}) _{}_{} ;;\n", one.name, entry.joined("_"), one.name);
  return text + "    esac ;;\n  esac\n}\n";
}

std::string zsh_completion(const std::vector<Entry>& entries, const Command& tool) {
  std::string text = "#compdef priornet\n# zsh completion of priornet; written by priornet manual\n";
  for (const auto& entry : entries) text += zsh_function(entry, tool);
  return text + "_priornet \"$@\"\n";
}

// ---- fish

std::string fish_word(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_completion(const std::vector<Entry>& entries, const Command& tool) {
  // Which command the line is at: the longest whose words the line begins with, options left out.
  std::string text = R"(# fish completion of priornet; written by priornet manual
function __priornet_at
    set -l words (commandline -opc)
    set -l at
    for word in $words[2..-1]
        string match -q -- '-*' $word; or set -a at $word
    end
    switch "$argv"
)";
  for (const auto& entry : entries) {
    if (entry.command->subcommands.empty()) continue;
    const auto depth = entry.words.size() - 1;
    text += fmt::format("        case {}\n            test (count $at) -eq {}", fish_word(entry.joined(" ")), depth);
    text += depth == 0 ? "\n" : fmt::format("; and test \"priornet $at\" = {}\n", fish_word(entry.joined(" ")));
  }
  text += R"(        case '*'
            string match -q -- "$argv *" "priornet $at "
    end
end
)";
  for (const auto& entry : entries) {
    const auto at = fmt::format("complete -c priornet -n {}", fish_word("__priornet_at " + entry.joined(" ")));
    for (const auto& one : entry.command->subcommands)
      text += fmt::format("{} -f -a {} -d {}\n", at, one.name, fish_word(one.summary));
    for (const auto& option : options_of(entry, tool)) {
      text += fmt::format("{} -l {} -d {}", at, option.name.substr(2), fish_word(option.help));
      if (option.takes_value()) text += " -r";
      if (!option.choices.empty())
        text += fmt::format(" -f -a {}", fish_word(fmt::format("{}", fmt::join(option.choices, " "))));
      text += "\n";
    }
  }
  return text;
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void run(const fs::path& folder, const Command& tool) {
  std::vector<Entry> entries;
  add_entries(tool, {}, entries);
  try {
    for (const auto& entry : entries)
      write(folder / "man" / "man1" / (entry.joined("-") + ".1"), man_page(entry, tool));
    write(folder / "bash-completion" / "completions" / "priornet", bash_completion(entries, tool));
    write(folder / "zsh" / "site-functions" / "_priornet", zsh_completion(entries, tool));
    write(folder / "fish" / "vendor_completions.d" / "priornet.fish", fish_completion(entries, tool));
  } catch (const fs::filesystem_error& error) {
    throw DataError(fmt::format("{}: cannot be written: {}", folder.string(), error.code().message()));
  }
  note(fmt::format("{} man pages, and completions for bash, zsh and fish, written to {}", entries.size(),
                   folder.string()));
}

}  // namespace

void describe_manual(Command& command) {
  const auto folder = std::make_shared<fs::path>();
  command.options = {{.name = "FOLDER",
                      .to = folder.get(),
                      .help = "Folder to write to, with the layout of /usr/share; it is created if it does not exist",
                      .required = true}};
  command.notes =
      "An installed priornet has these files already. After priornet manual ~/.local/share, the shells of most "
      "systems\n"
      "find them there too.";
  command.examples = {"priornet manual ~/.local/share", "source share/bash-completion/completions/priornet"};
  command.run = [folder](const Invocation& invocation) { run(*folder, *invocation.path.front()); };
}

}  // namespace priornet::tool
