#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "learning/base/names.h"
#include "tool/base/embedded_files.h"
#include "tool/commands/command.h"

namespace priornet::tool {
namespace {

enum class ValueType { kOther, kWhole, kNotNegative, kReal };

ValueType value_type(const Option& option) {
  return std::visit(
      [](const auto& target) {
        using T = std::decay_t<decltype(target)>;
        if (std::is_same_v<T, int64_t*> || std::is_same_v<T, std::optional<int64_t>*> ||
            std::is_same_v<T, std::vector<int64_t>*>)
          return ValueType::kWhole;
        if (std::is_same_v<T, uint16_t*> || std::is_same_v<T, uint64_t*>) return ValueType::kNotNegative;
        if (std::is_same_v<T, double*> || std::is_same_v<T, std::optional<double>*> ||
            std::is_same_v<T, std::vector<double>*>)
          return ValueType::kReal;
        return ValueType::kOther;
      },
      option.to);
}

// Rewrites the text in plain digits: CLI11 takes 010 for 8.
template <class Number>
std::optional<double> read_whole(std::string& text) {
  Number number{};
  const auto* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  text = std::to_string(number);
  return static_cast<double>(number);
}

std::optional<double> read_number(std::string& text, ValueType type) {
  if (type == ValueType::kWhole) return read_whole<int64_t>(text);
  if (type == ValueType::kNotNegative) return read_whole<uint64_t>(text);  // CLI11 takes -1 for the largest number
  double value = 0;
  return CLI::detail::lexical_cast(text, value) ? std::optional(value) : std::nullopt;
}

// CLI11's own ranges accept NaN, and print the largest double with all its digits; its types say of a text that is no
// number only that it could not be converted.
CLI::Validator number_between(ValueType type, const std::string& shown, const std::string& wanted, double least,
                              double most) {
  return CLI::Validator(
      [type, wanted, least, most](std::string& text) {
        const auto value = read_number(text, type);
        const bool is_any = least > most;
        if (value && (is_any || (std::isfinite(*value) && *value >= least && *value <= most))) return std::string();
        return "should be " + wanted + ", found " + text;
      },
      shown);
}

std::string shown_number(double value) {
  std::ostringstream text;
  text.precision(15);
  text << value;
  return text.str();
}

void check_number(CLI::Option& added, const Option& option) {
  using Kind = NumberRange::Kind;
  const auto type = value_type(option);
  if (type == ValueType::kOther) return;
  constexpr auto kMost = std::numeric_limits<double>::max();
  const auto& range = option.range;
  const auto ends = "from " + shown_number(range.low) + " to " + shown_number(range.high);
  const bool whole = type != ValueType::kReal;
  const std::string number = whole ? "a whole number" : "a number";
  const auto check = [&](const std::string& shown, const std::string& wanted, double least, double most) {
    added.check(number_between(type, shown, number + wanted, least, most));
  };
  if (range.kind == Kind::kNotNegative)
    check("NONNEGATIVE", " of at least 0", 0, kMost);
  else if (range.kind == Kind::kPositive)
    check("POSITIVE", whole ? " of at least 1" : " above 0", std::numeric_limits<double>::denorm_min(), kMost);
  else if (range.kind == Kind::kWhole || range.kind == Kind::kReal)
    check(ends, " " + ends, range.low, range.high);
  else
    check("", type == ValueType::kNotNegative ? " of at least 0" : "", 1, 0);
}

CLI::Validator existing_model() {
  return CLI::Validator([](std::string& name) { return name == kDigitModel ? std::string() : CLI::ExistingPath(name); },
                        "MODEL");
}

struct Answered {
  std::string text;
};

CLI::Option* add_target(CLI::App& app, const Option& option) {
  return std::visit(
      [&](const auto& target) -> CLI::Option* {
        using T = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<T, bool*>)
          return app.add_flag(option.name, *target, option.help);
        else if constexpr (std::is_same_v<T, Answer>)
          return app.add_flag_callback(
              option.name, [target] { throw Answered{target()}; }, option.help);
        else
          return app.add_option(option.name, *target, option.help);
      },
      option.to);
}

void add_option(CLI::App& app, const Option& option) {
  auto& added = *add_target(app, option);
  if (option.required) added.required();
  if (!option.choices.empty()) added.check(CLI::IsMember(option.choices));
  check_number(added, option);
  if (option.exists == Exists::kFile) added.check(CLI::ExistingFile);
  if (option.exists == Exists::kFolder) added.check(CLI::ExistingDirectory);
  if (option.exists == Exists::kModel) added.check(existing_model());
  if (option.separator != 0) added.delimiter(option.separator);
  if (option.one_value_each) added.allow_extra_args(false);
  if (!option.value_text.empty()) added.option_text(option.value_text);
  if (!option.environment.empty()) added.envname(option.environment);
  if (option.shows_default) added.capture_default_str();
}

// "--threads, --quiet": what the tool takes after a subcommand too.
std::string names_of_those_anywhere(const Command& tool) {
  std::string names;
  for (const auto& option : tool.options)
    if (option.anywhere) names += (names.empty() ? "" : ", ") + option.name;
  return names;
}

void describe(CLI::App& app, const Command& command, const Command& tool) {
  for (const auto& option : command.options) add_option(app, option);
  for (const auto& option : command.options) {
    if (!option.excludes.empty()) app.get_option(option.name)->excludes(app.get_option(option.excludes));
    if (!option.needs.empty()) app.get_option(option.name)->needs(app.get_option(option.needs));
  }
  if (!command.subcommands.empty()) app.require_subcommand(1);
  for (const auto& subcommand : command.subcommands)
    describe(*app.add_subcommand(subcommand.name, subcommand.summary), subcommand, tool);
  auto footer = footer_of(command);
  const auto others = names_of_those_anywhere(tool);
  if (&command != &tool && !others.empty())
    footer += (footer.empty() ? "" : "\n\n") + ("Also: " + others + " (see " + tool.name + " --help)");
  app.footer(footer);
}

// The words of a command line as CLI11 takes them: options that may stand anywhere come first, "help train" is "train
// --help", and an option's older name becomes its name. Words that CLI11 would only call unexpected, or would take for
// a value, are refused with a hint at what was meant.
class WordOrder {
 public:
  explicit WordOrder(const Command& tool) : tool_(tool), path_{&tool} {}

  std::vector<std::string> ordered(const std::vector<std::string>& words) {
    size_t at = 0;
    while (at < words.size() && words[at] != "--") at = take(words, at);
    rest_.insert(rest_.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    if (asks_help_) rest_.emplace_back("--help");
    first_.insert(first_.end(), rest_.begin(), rest_.end());
    return first_;
  }

 private:
  size_t take(const std::vector<std::string>& words, size_t at) {
    const auto& word = words[at];
    if (word.size() < 2 || word[0] != '-') {
      if (path_.size() == 1 && word == "help" && !asks_help_)
        asks_help_ = true;
      else
        take_plain(word);
      return at + 1;
    }
    const auto name = word.substr(0, word.find('='));
    const auto& option = found(name);
    auto& to = option.anywhere ? first_ : rest_;
    to.push_back(option.name + word.substr(name.size()));
    if (name.size() != word.size() || !option.takes_value()) return at + 1;
    if (at + 1 == words.size() || is_option(words[at + 1])) fail(name + " needs a value", "", "");
    to.push_back(words[at + 1]);
    return at + 2;
  }

  void take_plain(const std::string& word) {
    rest_.push_back(word);
    const auto& subcommands = path_.back()->subcommands;
    if (subcommands.empty()) return;  // a positional argument, or one more value of a list
    std::vector<std::string> names;
    for (const auto& subcommand : subcommands) {
      names.push_back(subcommand.name);
      if (subcommand.name != word) continue;
      path_.push_back(&subcommand);
      return;
    }
    const auto above = path_name();
    const auto prefix = above.empty() ? "" : above + " ";
    fail("there is no subcommand " + prefix + word, nearest_name(word, names), prefix);
  }

  const Option& found(const std::string& name) const {
    static const Option help{.name = "--help", .to = Answer()};
    if (name == "--help" || name == "-h") return help;
    std::vector<std::string> names{help.name};
    const auto sought = [&](const Command& command, bool all) -> const Option* {
      for (const auto& option : command.options) {
        if (option.is_positional() || (!all && !option.anywhere)) continue;
        names.push_back(option.name);
        if (option.name == name || option.older_name == name) return &option;
      }
      return nullptr;
    };
    if (const auto* option = sought(*path_.back(), true)) return *option;
    if (const auto* option = sought(tool_, false)) return *option;
    fail("there is no option " + name, nearest_name(name, names), "");
  }

  // One of those that may stand here; a value such as -1 is none.
  bool is_option(const std::string& word) const {
    const auto name = word.substr(0, word.find('='));
    if (name == "--" || name == "--help" || name == "-h") return true;
    const auto has = [&](const Command& command) {
      return std::any_of(command.options.begin(), command.options.end(), [&](const Option& option) {
        return !option.is_positional() && (option.name == name || option.older_name == name);
      });
    };
    return name.starts_with('-') && (has(*path_.back()) || has(tool_));
  }

  std::string path_name() const {
    std::string name;
    for (size_t i = 1; i < path_.size(); ++i) name += (i > 1 ? " " : "") + path_[i]->name;
    return name;
  }

  [[noreturn]] void fail(const std::string& what, const std::string& nearest, const std::string& prefix) const {
    throw Misuse(what + (nearest.empty() ? "" : "; did you mean " + prefix + nearest + "?"), path_name());
  }

  const Command& tool_;
  std::vector<const Command*> path_;
  std::vector<std::string> first_;
  std::vector<std::string> rest_;
  bool asks_help_ = false;
};

// The subcommands that were reached, outermost first.
void follow(const CLI::App& app, Invocation& invocation) {
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands())
    for (const auto& subcommand : invocation.path.back()->subcommands)
      if (subcommand.name == chosen.front()->get_name()) {
        invocation.path.push_back(&subcommand);
        break;
      }
}

}  // namespace

Invocation parse(const Command& tool, const std::vector<std::string>& arguments) {
  Invocation invocation(tool, arguments);
  CLI::App app(tool.summary, tool.name);
  describe(app, tool, tool);
  auto words = WordOrder(tool).ordered(arguments);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
    follow(app, invocation);
  } catch (const Answered& answered) {
    invocation.answer = answered.text;
  } catch (const CLI::Success& asked) {  // --help
    std::ostringstream out;
    app.exit(asked, out, out);
    invocation.answer = out.str();
  } catch (const CLI::ParseError& error) {
    follow(app, invocation);
    throw Misuse(error.what(), invocation.name());
  }
  return invocation;
}

}  // namespace priornet::tool
