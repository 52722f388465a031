#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "tool/commands/command.h"

namespace priornet::tool {
namespace {

// CLI11's own ranges let NaN pass, and print an end that is the largest double in all its digits. What is no number at
// all is left to the option's type.
CLI::Validator finite_number(const std::string& shown, const std::string& wanted, double least) {
  return CLI::Validator(
      [wanted, least](std::string& text) {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value) || (std::isfinite(value) && value >= least)) return std::string();
        return "should be " + wanted + ", found " + text;
      },
      shown);
}

void check_range(CLI::Option& added, const NumberRange& range) {
  using Kind = NumberRange::Kind;
  if (range.kind == Kind::kNotNegative) added.check(finite_number("NONNEGATIVE", "a number of at least 0", 0));
  if (range.kind == Kind::kPositive)
    added.check(finite_number("POSITIVE", "a number above 0", std::numeric_limits<double>::denorm_min()));
  if (range.kind == Kind::kWhole)
    added.check(CLI::Range(static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)));
  if (range.kind == Kind::kReal) {
    added.check(finite_number("", "a finite number", std::numeric_limits<double>::lowest()));
    added.check(CLI::Range(range.low, range.high));
  }
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
  check_range(added, option.range);
  if (option.exists == Exists::kFile) added.check(CLI::ExistingFile);
  if (option.exists == Exists::kFolder) added.check(CLI::ExistingDirectory);
  if (option.exists == Exists::kPath) added.check(CLI::ExistingPath);
  if (option.separator != 0) added.delimiter(option.separator);
  if (option.one_value_each) added.allow_extra_args(false);
  if (!option.value_text.empty()) added.option_text(option.value_text);
  if (!option.environment.empty()) added.envname(option.environment);
  if (option.shows_default) added.capture_default_str();
}

void describe(CLI::App& app, const Command& command) {
  for (const auto& option : command.options) add_option(app, option);
  for (const auto& option : command.options) {
    if (!option.excludes.empty()) app.get_option(option.name)->excludes(app.get_option(option.excludes));
    if (!option.needs.empty()) app.get_option(option.name)->needs(app.get_option(option.needs));
  }
  if (!command.subcommands.empty()) app.require_subcommand(1);
  for (const auto& subcommand : command.subcommands)
    describe(*app.add_subcommand(subcommand.name, subcommand.summary), subcommand);
  app.footer(footer_of(command));
}

// The subcommands that were reached, outermost first.
void follow(const CLI::App& app, Invocation& invocation) {
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands())
    for (const auto& subcommand : invocation.path.back()->subcommands)
      if (subcommand.name == chosen.front()->get_name()) {
        invocation.path.push_back(&subcommand);
        break;
      }
}

std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error, const Invocation& invocation) {
  // CLI11 would only say that a subcommand is missing.
  const auto rest = app.remaining(true);
  if (invocation.path.back()->subcommands.empty() || rest.empty()) return error.what();
  const auto above = invocation.name();
  return "there is no subcommand " + above + (above.empty() ? "" : " ") + rest.front();
}

}  // namespace

Invocation parse(const Command& tool, const std::vector<std::string>& arguments) {
  Invocation invocation(tool, arguments);
  CLI::App app(tool.summary, tool.name);
  describe(app, tool);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants them
    follow(app, invocation);
  } catch (const Answered& answered) {
    invocation.answer = answered.text;
  } catch (const CLI::Success& asked) {  // --help
    std::ostringstream out;
    app.exit(asked, out, out);
    invocation.answer = out.str();
  } catch (const CLI::ParseError& error) {
    follow(app, invocation);
    throw Misuse(what_is_wrong(app, error, invocation), invocation.name());
  }
  return invocation;
}

}  // namespace priornet::tool
