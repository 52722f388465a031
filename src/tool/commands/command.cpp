#include "tool/commands/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/catalogue.h>
#include <priornet/uncertainty/errors.h>
#include <torch/cuda.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "learning/base/json_text.h"
#include "learning/base/names.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
std::string type_of() {
  if constexpr (std::is_same_v<T, bool>) return "flag";
  if constexpr (std::is_same_v<T, std::string>) return "text";
  if constexpr (std::is_same_v<T, std::filesystem::path>) return "path";
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) return "number";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "list of texts";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "list of integers";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "list of numbers";
  return "integer";
}

std::string type_of(const Option& option) {
  return std::visit(
      [](const auto& target) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Answer>)
          return "flag";
        else
          return type_of<std::remove_pointer_t<std::decay_t<decltype(target)>>>();
      },
      option.to);
}

Json json_of(const Option& option) {
  Json json = {{"name", option.name},         {"type", type_of(option)},
               {"help", option.help},         {"positional", option.is_positional()},
               {"required", option.required}, {"default", values_of(option)}};
  if (!option.choices.empty()) json["choices"] = option.choices;
  if (option.range.kind == NumberRange::Kind::kWhole || option.range.kind == NumberRange::Kind::kReal)
    json["range"] = {option.range.low, option.range.high};
  if (!option.excludes.empty()) json["excludes"] = option.excludes;
  if (!option.needs.empty()) json["needs"] = option.needs;
  if (!option.environment.empty()) json["environment"] = option.environment;
  if (!option.endings.empty()) json["endings"] = option.endings;
  if (option.anywhere) json["anywhere"] = true;
  return json;
}

Json json_of(const Command& command) {
  Json json = {{"name", command.name},   {"summary", command.summary},   {"options", Json::array()},
               {"notes", command.notes}, {"examples", command.examples}, {"subcommands", Json::array()}};
  for (const auto& option : command.options) json["options"].push_back(json_of(option));
  for (const auto& subcommand : command.subcommands) json["subcommands"].push_back(json_of(subcommand));
  return json;
}

// A value that looks like an option is joined to its name by "=".
std::string option_words(const Option& option, const std::vector<std::string>& values) {
  const auto& name = option.name;
  if (std::holds_alternative<bool*>(option.to)) return " " + name;
  if (option.separator != 0)
    return fmt::format(" {} {}", name,
                       shell_word(fmt::format("{}", fmt::join(values, std::string(1, option.separator)))));
  const bool looks_like_option = std::any_of(values.begin(), values.end(), [](const auto& v) { return v[0] == '-'; });
  std::string words;
  for (const auto& value : values) {
    if (looks_like_option)
      words += fmt::format(" {}={}", name, shell_word(value));
    else
      words += fmt::format("{} {}", words.empty() || option.one_value_each ? " " + name : "", shell_word(value));
  }
  return words;
}

}  // namespace

bool Option::takes_value() const { return !std::holds_alternative<bool*>(to) && !std::holds_alternative<Answer>(to); }

bool Option::takes_several() const { return type_of(*this).starts_with("list"); }

Invocation::Values values_of(const Option& option) {
  return std::visit(
      [](const auto& target) -> Invocation::Values {
        using T = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<T, Answer>)
          return {};
        else if constexpr (std::is_same_v<T, bool*>)
          return *target ? Invocation::Values{"true"} : Invocation::Values{};
        else if constexpr (std::is_same_v<T, std::string*>)
          return target->empty() ? Invocation::Values{} : Invocation::Values{*target};
        else if constexpr (std::is_same_v<T, std::filesystem::path*>)
          return target->empty() ? Invocation::Values{} : Invocation::Values{target->string()};
        else if constexpr (std::is_same_v<T, std::vector<std::string>*>)
          return *target;
        else if constexpr (std::is_same_v<T, std::vector<int64_t>*> || std::is_same_v<T, std::vector<double>*>) {
          Invocation::Values values;
          for (const auto number : *target) values.push_back(fmt::format("{}", number));
          return values;
        } else if constexpr (std::is_arithmetic_v<std::remove_pointer_t<T>>)
          return {fmt::format("{}", *target)};
        else
          return *target ? Invocation::Values{fmt::format("{}", **target)} : Invocation::Values{};
      },
      option.to);
}

Invocation::Invocation(const Command& tool, std::vector<std::string> arguments)
    : path{&tool}, arguments_(std::move(arguments)) {
  const auto note = [this](const Command& command, const auto& note_below) -> void {
    for (const auto& option : command.options) defaults_[&option] = values_of(option);
    for (const auto& subcommand : command.subcommands) note_below(subcommand, note_below);
  };
  note(tool, note);
}

std::string Invocation::name() const {
  std::string name;
  for (size_t i = 1; i < path.size(); ++i) name += fmt::format("{}{}", i > 1 ? " " : "", path[i]->name);
  return name;
}

void Invocation::run() const {
  try {
    for (const auto& option : path.back()->options)
      if (!option.endings.empty())
        for (const auto& value : values_of(option)) check_ending(option.name, value, option.endings);
    path.back()->run(*this);
  } catch (const Misuse& misuse) {
    throw Misuse(misuse.what(), name());
  }
}

std::string Invocation::command_line(const std::map<std::string, Values>& changed) const {
  std::string line;
  for (const auto* command : path) {
    line += fmt::format("{}{}", line.empty() ? "" : " ", command->name);
    const auto values_now = [&](const Option& option) {
      const auto other = changed.find(option.name);
      return other == changed.end() ? values_of(option) : other->second;
    };
    for (const auto& option : command->options)
      if (option.is_positional())
        for (const auto& value : values_now(option)) line += fmt::format(" {}", shell_word(value));
    for (const auto& option : command->options) {
      if (option.is_positional()) continue;
      const auto values = values_now(option);
      if (!values.empty() && values != defaults_.at(&option)) line += option_words(option, values);
    }
  }
  return line;
}

void check_ending(const std::string& option, const std::string& path, const std::vector<std::string>& endings) {
  const auto name = lower_case(path);
  if (path.empty() || std::any_of(endings.begin(), endings.end(), [&](const auto& end) { return name.ends_with(end); }))
    return;
  throw Misuse(
      fmt::format("{}: {} should end in {}", option, path,
                  endings.size() == 1
                      ? endings[0]
                      : fmt::format("{} or {}", fmt::join(endings.begin(), endings.end() - 1, ", "), endings.back())));
}

std::string footer_of(const Command& command) {
  auto text = command.notes;
  if (command.examples.empty()) return text;
  text += fmt::format("{}{}:", text.empty() ? "" : "\n\n", command.examples.size() == 1 ? "Example" : "Examples");
  for (const auto& example : command.examples) text += "\n  " + example;
  return text;
}

std::string listing_of(const Command& tool) { return json_text(json_of(tool), 2) + "\n"; }

std::string shell_word(const std::string& word) {
  const bool plain =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:=@%,") ==
          std::string::npos &&
      !word.empty();
  if (plain) return word;
  std::string quoted = "'";
  for (const char character : word) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

Option device_option(std::string& name, const std::string& what) {
  return {.name = "--device",
          .to = &name,
          .help = what + ": auto, cpu or cuda",
          .shows_default = true,
          .choices = {"auto", "cpu", "cuda"}};
}

Option root_option(std::filesystem::path& root) {
  return {.name = "--root", .to = &root, .help = "The data root; by default PRIORNET_DATA or its defaults"};
}

std::filesystem::path chosen_root(const std::filesystem::path& named) { return named.empty() ? data_root() : named; }

void refuse_to_overwrite(const std::string& out, const std::vector<std::string>& read) {
  for (const auto& path : read) {
    std::error_code not_there;
    if (!out.empty() && std::filesystem::equivalent(path, out, not_there))
      throw Misuse(fmt::format("--out: {} is also an input, and would be lost", out));
  }
}

Option torchscript_option(bool& allowed) {
  return {.name = "--allow-torchscript",
          .to = &allowed,
          .help = "Allow a network that PyTorch scripted or compiled: it is a program and runs what its author wrote"};
}

c10::Device chosen_device(const std::string& name) {
#if defined(PRIORNET_CUDA)
  const bool there = torch::cuda::is_available();
  if (name == "cuda" && !there) throw Error("--device cuda: LibTorch finds no CUDA device here; use --device cpu");
#else
  const bool there = false;
  if (name == "cuda") throw Error("--device cuda: this build has no CUDA kernels; use --device cpu");
#endif
  return name == "cuda" || (name == "auto" && there) ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
}

}  // namespace priornet::tool
