#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

// Subcommands and their options as data. A subcommand fills in a Command; parse() reads a command line by it; help
// texts, the listing for machines and the command that a result records come from it too. Only command_parser.cpp knows
// the library that parses: this header is cheap to include.

namespace priornet::tool {

/// The command line is wrong: exit status 2. A subcommand throws it for what parse() cannot know.
class Misuse : public std::runtime_error {
 public:
  explicit Misuse(const std::string& message, std::string name = "")
      : std::runtime_error(message), subcommand(std::move(name)) {}

  std::string subcommand;  ///< whose help says more; empty: the tool's
};

/// The numbers that an option takes. NaN and infinities are refused by all but kAny.
struct NumberRange {
  enum class Kind {
    kAny,
    kNotNegative,  ///< at least 0
    kPositive,     ///< above 0
    kWhole,        ///< whole, from low to high
    kReal          ///< from low to high
  };
  Kind kind = Kind::kAny;
  double low = 0;
  double high = 0;
};
constexpr NumberRange kNotNegative{NumberRange::Kind::kNotNegative};
constexpr NumberRange kPositive{NumberRange::Kind::kPositive};
constexpr NumberRange whole_range(int64_t low, int64_t high) {
  return {NumberRange::Kind::kWhole, static_cast<double>(low), static_cast<double>(high)};
}
constexpr NumberRange real_range(double low, double high) { return {NumberRange::Kind::kReal, low, high}; }

/// What must already exist. A model is a file, the folder of a run, or the one that comes with the tool.
enum class Exists { kNothing, kFile, kFolder, kModel };

/// Printed instead of running anything, as for --version.
using Answer = std::function<std::string()>;

/// One option, or one positional argument.
struct Option {
  /// Where the value goes. It holds the default until parse() changes it, and must outlive the Command. A bool is a
  /// flag.
  using Target = std::variant<bool*, std::string*, std::filesystem::path*, int64_t*, uint16_t*, uint64_t*, double*,
                              std::optional<int64_t>*, std::optional<double>*, std::vector<std::string>*,
                              std::vector<int64_t>*, std::vector<double>*, Answer>;

  std::string name = {};  ///< "--out"; a positional argument has no dashes: "RUN"
  Target to = {};
  std::string help = {};
  bool required = false;
  bool shows_default = false;
  std::vector<std::string> choices = {};  ///< if not empty, the only values
  NumberRange range = {};
  Exists exists = Exists::kNothing;
  std::string excludes = {};              ///< the name of an option that cannot be given with it
  std::string needs = {};                 ///< the name of an option that must be given with it
  std::string value_text = {};            ///< how help shows the value, if not by its type: "KEY=VALUE"
  char separator = 0;                     ///< of a list: "10,100" is two values
  bool one_value_each = false;            ///< for a list: each further value repeats the option
  std::string environment = {};           ///< the variable that gives the value if the option is not given
  std::vector<std::string> endings = {};  ///< if not empty, of a file's name: ".csv", ".json"
  bool anywhere = false;                  ///< for an option of the tool: may stand after a subcommand too
  std::string older_name = {};            ///< what it was called: taken as well, but not shown anywhere

  bool is_positional() const { return !name.starts_with('-'); }
  bool takes_value() const;    ///< else it is a flag, or printed instead of running anything
  bool takes_several() const;  ///< a list
};

class Invocation;

struct Command {
  std::string name = {};
  std::string summary = {};  ///< one line
  std::vector<Option> options = {};
  std::string notes = {};                  ///< what help says below the options
  std::vector<std::string> examples = {};  ///< whole command lines
  std::vector<Command> subcommands = {};   ///< if there are some, one of them has to be named
  /// Throws priornet::Error when it fails (exit status 1), Misuse for a wrong command line.
  std::function<void(const Invocation&)> run = {};
};

/// A command line that was understood; the options' targets hold its values. The Command must outlive it.
class Invocation {
 public:
  using Values = std::vector<std::string>;

  /// Notes the defaults; call it before anything is parsed.
  Invocation(const Command& tool, std::vector<std::string> arguments);

  /// "data list"; empty if no subcommand was reached.
  std::string name() const;
  const std::vector<std::string>& arguments() const { return arguments_; }

  /// Runs the subcommand.
  void run() const;

  /// The command that does the same again, ready for a shell: positional arguments, then each option whose value is not
  /// its default, in the order of the Command. `changed` gives other values for some names; an empty list leaves the
  /// option out.
  std::string command_line(const std::map<std::string, Values>& changed = {}) const;

  std::vector<const Command*> path;  ///< the tool, and each subcommand that was named
  std::optional<std::string> answer;

 private:
  std::vector<std::string> arguments_;
  std::map<const Option*, Values> defaults_;
};

/// Reads a command line (without the program's name). "help WORDS" is read as "WORDS --help".
Invocation parse(const Command& tool, const std::vector<std::string>& arguments);

/// Misuse unless the path is empty or ends in one of these, in capitals or not.
void check_ending(const std::string& option, const std::string& path, const std::vector<std::string>& endings);

/// The values that an option has now, as a user would type them: none for a flag that is off, or a number or text that
/// is not set. For a flag that is on: "true".
Invocation::Values values_of(const Option& option);

/// "Examples:" and so on: what help says below the options.
std::string footer_of(const Command& command);

/// Every subcommand with its options, notes and examples, as JSON.
std::string listing_of(const Command& tool);

/// The word, quoted for a shell if needed.
std::string shell_word(const std::string& word);

/// --device auto|cpu|cuda; `what` says what runs there.
Option device_option(std::string& name, const std::string& what);

/// --root: the folder where data sets lie.
Option root_option(std::filesystem::path& root);
/// The one that the user named, or else data_root().
std::filesystem::path chosen_root(const std::filesystem::path& named);

/// Misuse if `out` is one of the files that are read: writing it would lose them.
void refuse_to_overwrite(const std::string& out, const std::vector<std::string>& read);

/// --allow-torchscript: whether a run or model file that holds a network as a program is opened.
Option torchscript_option(bool& allowed);

/// `auto` is a CUDA device if there is one. Error if the user asked for `cuda` and there is none.
c10::Device chosen_device(const std::string& name);

/// Why something failed, as run_tool() says it.
std::string words_of(const std::exception& error);

/// The body of main(): runs priornet with these subcommands and arguments (without the program's name). Returns the
/// exit status: 0 done, 1 failed, 2 misuse; a failure is one line on standard error. `--help-json`, which help does not
/// show, prints every subcommand and option for machines.
int run_tool(std::vector<Command> subcommands, const std::vector<std::string>& arguments);

}  // namespace priornet::tool
