#include <gtest/gtest.h>
#include <priornet/learning/settings.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

namespace priornet {
namespace {

enum class Colour { kRed, kBlue };

struct Settings {
  int64_t epochs = 10;
  double rate = 1e-3;
  bool flip = false;
  std::string set = "mnist";
  Colour colour = Colour::kRed;
  std::vector<int64_t> dense = {100};
  std::vector<std::vector<int64_t>> blocks = {{64, 64}, {128}};
  std::optional<double> slope;
};

void visit(Settings& settings, ConfigFields& fields) {
  constexpr std::array<std::pair<std::string_view, Colour>, 2> kColours = {
      {{"red", Colour::kRed}, {"blue", Colour::kBlue}}};
  fields.table("training", "how the network is trained");
  fields.whole("epochs", settings.epochs, at_least(1), "passes over the data");
  fields.number("rate", settings.rate, above(0), "learning rate");
  fields.flag("flip", settings.flip, "left to right");
  fields.table("model", "what is trained");
  fields.text("set", settings.set, "data");
  fields.named("colour", settings.colour, kColours, "of the figure");
  fields.list("dense", settings.dense, "units");
  fields.lists("blocks", settings.blocks, "channels");
  fields.number("slope", settings.slope, {0, 1}, "below 0");
}

Settings read(const std::filesystem::path& path, const std::vector<std::string>& overrides = {}) {
  Settings settings;
  read_toml(path, overrides, [&](ConfigFields& fields) { visit(settings, fields); });
  return settings;
}

TEST(Toml, SetsWhatIsGivenAndLeavesTheRest) {
  const TemporaryFolder folder;
  const auto settings = read(folder.file("a.toml",
                                         "[training]\nepochs = 3\nrate = 1\n"
                                         "[model]\ncolour = \"blue\"\nblocks = [[1, 2], []]\nslope = 0.2\n"));
  EXPECT_EQ(settings.epochs, 3);
  EXPECT_EQ(settings.rate, 1.0);
  EXPECT_EQ(settings.set, "mnist");
  EXPECT_EQ(settings.colour, Colour::kBlue);
  EXPECT_EQ(settings.blocks, (std::vector<std::vector<int64_t>>{{1, 2}, {}}));
  EXPECT_EQ(settings.slope, 0.2);
}

TEST(Toml, LetsOverridesWin) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.toml", "[training]\nepochs = 3\n");
  const auto settings = read(path, {"training.epochs=5", "model.set=omniglot,invert", "model.dense=[7, 8]"});
  EXPECT_EQ(settings.epochs, 5);
  EXPECT_EQ(settings.set, "omniglot,invert");
  EXPECT_EQ(settings.dense, (std::vector<int64_t>{7, 8}));
}

TEST(Toml, ReadsBackWhatItWrites) {
  const TemporaryFolder folder;
  Settings settings;
  settings.rate = 0.1;
  settings.set = "a \"quoted\" \\ \x7f\n name";
  settings.slope = 0.25;
  settings.flip = true;
  const auto write = [](Settings& of) { return to_toml([&](ConfigFields& fields) { visit(of, fields); }); };
  const auto text = write(settings);
  auto back = read(folder.file("a.toml", text));
  EXPECT_EQ(write(back), text);
  EXPECT_NE(text.find("epochs = 10                               # passes over the data\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# of the figure: red, blue"), std::string::npos);
}

TEST(Toml, RefusesToWriteNamesThatAreNotUtf8) {
  Settings settings;
  settings.set =
      "gr\xf6\xdf"
      "e.csv";
  EXPECT_THROWS(ConfigError, to_toml([&](ConfigFields& fields) { visit(settings, fields); }),
                "model.set: gr\\xf6\\xdfe.csv is not UTF-8, and a configuration has to be: rename the file");
}

void expect_refused(const std::string& text, const std::string& message) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.toml", text);
  EXPECT_THROWS(ConfigError, read(path), (path.string() + ": " + message).c_str());
}

TEST(Toml, WritesKeysThatWereLeftOutAsCommentsIfAsked) {
  const auto written = [](std::optional<double> slope) {
    Settings settings;
    settings.slope = slope;
    return to_toml_with_all_keys([&](ConfigFields& fields) { visit(settings, fields); });
  };
  EXPECT_TRUE(written({}).ends_with("\n# slope                                   # below 0\n")) << written({});
  EXPECT_TRUE(written(0.5).ends_with("\nslope = 0.5                               # below 0\n")) << written(0.5);
}

TEST(Toml, NamesKeyLineAndTheNearestKnownOne) {
  expect_refused("[training]\nepoch = 3\n", "line 2: there is no key training.epoch; did you mean training.epochs?");
  expect_refused("[training]\nqqq = 3\n", "line 2: there is no key training.qqq");
  expect_refused("\n[trainning]\nepochs = 3\n", "line 2: there is no table [trainning]; did you mean training?");
  expect_refused("epochs = 3\n", "line 1: there is no key epochs; did you mean training.epochs?");
}

TEST(Toml, NamesWhatAValueShouldBe) {
  expect_refused("[training]\n\nepochs = 0\n", "line 3: training.epochs should be at least 1, found 0");
  expect_refused("[training]\nepochs = 1.5\n", "line 2: training.epochs should be a whole number, found 1.5");
  expect_refused("[training]\nepochs = 2.0\n", "line 2: training.epochs should be a whole number, found 2.0");
  expect_refused("[training]\nrate = 0\n", "line 2: training.rate should be above 0, found 0");
  expect_refused("[training]\nrate = inf\n", "line 2: training.rate should be a finite number, found inf");
  expect_refused("[training]\nrate = nan\n", "line 2: training.rate should be above 0, found nan");
  expect_refused("[model]\ncolour = \"green\"\n", "line 2: model.colour should be one of red, blue, found 'green'");
  expect_refused("[model]\ndense = [1, \"a\"]\n",
                 "line 2: model.dense should be a list of whole numbers, found [ 1, 'a' ]");
  expect_refused("[model]\nset = [0.2, [-0.01], {a = 1}]\n",
                 "line 2: model.set should be text in quotes, found [ 0.2, [ -0.01 ], a table ]");
  expect_refused("[model]\nset = []\n", "line 2: model.set should be text in quotes, found []");
  expect_refused("[model]\nslope = 2\n", "line 2: model.slope should be in [0, 1], found 2");
  expect_refused("training = 3\n", "line 1: training should be a table, found 3");
}

TEST(Toml, NamesTheOverrideThatIsWrong) {
  EXPECT_THROWS(ConfigError, read({}, {"training.epochs=many"}),
                "--set training.epochs=many: training.epochs should be a whole number, found 'many'");
  EXPECT_THROWS(ConfigError, read({}, {"training.epoch=3"}),
                "--set training.epoch=3: there is no key training.epoch; did you mean training.epochs?");
  EXPECT_THROWS(ConfigError, read({}, {"training.epochs"}), "--set training.epochs: should be KEY=VALUE");
}

TEST(Toml, SaysWhereTheSyntaxIsWrong) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.toml", "[training]\nepochs = \n");
  try {
    read(path);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": line 2: ")) << error.what();
  }
}

TEST(Toml, TakesCharactersBeyondAsciiInStringsAndCommentsAlone) {
  const TemporaryFolder folder;
  const auto set_of = [&](const std::string& text) { return read(folder.file("a.toml", text)).set; };
  EXPECT_EQ(set_of("\xEF\xBB\xBF[model]  # Größe\nset = \"größe \\\" é\"  # ñ\n"), "größe \" é");
  EXPECT_EQ(set_of("[model]\nset = 'größe \\'  # ñ\n"), "größe \\");
  EXPECT_EQ(set_of("[model]\nset = \"\"\"\nein \"ü\"\"\"\"  # ñ\n"), "ein \"ü\"");
  EXPECT_EQ(set_of("[model]\nset = ''''ü'''''  # ñ\n"), "'ü''");
  EXPECT_EQ(read({}, {"model.set=./größe.csv"}).set, "./größe.csv");
  expect_refused("[model]\nset = größe\n", "line 2: found \"öß\", which may stand only in strings and comments");
  expect_refused("[model]\nset = \"\"\"\\\n é\"\"\"\n",
                 "line 3: found \"é\", which may stand only in strings and comments");
  expect_refused("[model]\nset = \"\"\nclé = 1\n", "line 3: found \"é\", which may stand only in strings and comments");
}

}  // namespace
}  // namespace priornet
