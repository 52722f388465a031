#include <fmt/format.h>
#include <priornet/learning/config.h>
#include <testing/small_runs.h>
#include <testing/temporary_folder.h>

#include <map>
#include <regex>

// The tables that a configuration chooses from by name.

namespace priornet {
namespace {

struct NamedTable {
  const char* key;  ///< the key that chooses a row
  std::vector<Choice> rows;
};

std::vector<NamedTable> all_tables() {
  return {{"method.name", choices_of(methods())},
          {"outside.source", choices_of(outlier_sources())},
          {"training.schedule", choices_of(schedules())},
          {"training.optimiser", choices_of(optimisers())}};
}

TrainConfig config_given(const std::vector<std::string>& overrides) {
  return read_config(TomlText{"", "[data]\ntrain = 'mnist'\n[method]\nteacher = 'run'"}, overrides);
}

// A configuration has one value per key, for every row that has the key.
TEST(Tables, AgreeOnSettingsOfOneKey) {
  for (const auto& table : all_tables()) {
    std::map<std::string, Setting> seen;
    for (const auto& row : table.rows)
      for (const auto& setting : *row.settings) {
        const auto& first = seen.try_emplace(setting.key, setting).first->second;
        const auto where = fmt::format("{} {}", row.name, setting.key);
        EXPECT_EQ(first.value, setting.value) << where;
        EXPECT_EQ(to_text(first.range), to_text(setting.range)) << where;
        EXPECT_EQ(first.kind, setting.kind) << where;
        EXPECT_TRUE(setting.range.holds(setting.value)) << where;
      }
    EXPECT_GE(seen.size(), 4u) << table.key;
  }
}

TEST(Tables, AreChosenFromInConfigurations) {
  for (const auto& table : all_tables())
    for (const auto& row : table.rows) {
      const auto text = to_toml(config_given({fmt::format("{}={}", table.key, row.name)}));
      EXPECT_NE(text.find(fmt::format(" = \"{}\"", row.name)), std::string::npos) << row.name;
      EXPECT_EQ(to_toml(read_config(TomlText{"", text})), text) << row.name;
      for (const auto& setting : *row.settings)
        EXPECT_NE(text.find(fmt::format("\n{} = ", setting.key)), std::string::npos) << setting.key;
    }
}

TEST(Tables, StandInTheManual) {
  const auto manual = bytes_of(PRIORNET_CONFIGS "/../docs/training.md");
  for (const auto& table : all_tables())
    for (const auto& row : table.rows)
      EXPECT_NE(manual.find(fmt::format("`{}`", row.name)), std::string::npos) << row.name;
}

// A run that is older than a key goes on with the default of that key.
TEST(Tables, MayGrowWhileRunsAreUnderWay) {
  const auto today = to_toml(config_given({}));
  const auto without = [&](const std::string& key) {
    return std::regex_replace(today, std::regex("\n" + key + " = [^\n]*"), "");
  };
  for (const auto& table : all_tables())
    for (const auto& row : table.rows)
      for (const auto& setting : *row.settings) {
        ASSERT_NE(without(setting.key), today) << setting.key;
        EXPECT_EQ(first_difference(without(setting.key), today), "") << setting.key;
      }
  EXPECT_EQ(first_difference(without("alpha0"), to_toml(config_given({"method.alpha0=7"}))),
            "\"alpha0 = 1000.0\" there, \"alpha0 = 7.0\" here");
}

}  // namespace
}  // namespace priornet
