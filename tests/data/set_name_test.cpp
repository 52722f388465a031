#include <gtest/gtest.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

using Kind = SetModifier::Kind;
using Names = std::vector<std::string>;

TEST(SetName, IsASetOfTheCatalogueWithItsSplit) {
  const auto name = parse_set_name("mnist:valid+test");
  EXPECT_EQ(name.text, "mnist:valid+test");
  EXPECT_EQ(name.set, "mnist");
  EXPECT_EQ(name.split, "valid+test");
  EXPECT_FALSE(name.is_path);
  EXPECT_TRUE(name.modifiers.empty());
  EXPECT_EQ(parse_set_name("mnist").split, "");
}

TEST(SetName, IsAPathIfItHasASlashOrADot) {
  for (const auto* path : {"./photos", "/data/photos:2019", "table.csv", "photos/"}) {
    const auto name = parse_set_name(path);
    EXPECT_TRUE(name.is_path) << path;
    EXPECT_EQ(name.set, path);
    EXPECT_EQ(name.split, "");
  }
}

TEST(SetName, KeepsItsModifiersInOrder) {
  const auto name = parse_set_name("omniglot:all,invert,size=28x32,grey,rgb,pad=2,subset=15000,first=9,last=7");
  std::vector<Kind> kinds;
  for (const auto& modifier : name.modifiers) kinds.push_back(modifier.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::kInvert, Kind::kSize, Kind::kGrey, Kind::kRgb, Kind::kPad, Kind::kSubset,
                                      Kind::kFirst, Kind::kLast}));
  EXPECT_EQ(name.modifiers[1].height, 28);
  EXPECT_EQ(name.modifiers[1].width, 32);
  EXPECT_EQ(name.modifiers[4].number, 2);
  EXPECT_EQ(name.modifiers[5].number, 15000);
  EXPECT_EQ(name.modifiers[6].number, 9);
  EXPECT_EQ(name.modifiers[7].number, 7);
}

TEST(SetName, ReadsSettingsWhereverTheyStand) {
  const auto name =
      parse_set_name("./t.csv,seed=18446744073709551615,resample=bicubic,subset=3,antialias=off,label=kind");
  EXPECT_EQ(name.seed, 18446744073709551615u);
  EXPECT_EQ(name.label, "kind");
  EXPECT_EQ(name.modifiers.size(), 1u);
  const auto resize = name.resize_to(4, 5);
  EXPECT_EQ(resize.height, 4);
  EXPECT_EQ(resize.width, 5);
  EXPECT_EQ(resize.resampling, Resampling::kBicubic);
  EXPECT_FALSE(resize.antialias);
  EXPECT_TRUE(parse_set_name("lsun").resize_to(1, 1).antialias);
  EXPECT_EQ(resize.grid, PixelGrid::kCentres);
  EXPECT_EQ(parse_set_name("lsun,size=4,antialias=off,grid=corners").resize_to(4, 4).grid, PixelGrid::kCorners);
}

TEST(SetName, TakesClassesAndAnotherSet) {
  const auto name = parse_set_name("tinyimagenet:val,without=cifar10,classes=tabby|goose,size=32");
  ASSERT_EQ(name.modifiers.size(), 3u);
  EXPECT_EQ(name.modifiers[0].names, Names{"cifar10"});
  EXPECT_EQ(name.modifiers[1].names, (Names{"tabby", "goose"}));
  EXPECT_EQ(name.modifiers[2].height, 32);
  EXPECT_EQ(name.modifiers[2].width, 32);
}

TEST(SetName, RejectsWhatItDoesNotKnowAndSaysWhatThereIs) {
  EXPECT_THROWS(ArgumentError, parse_set_name("mnist,inverted"),
                "data set 'mnist,inverted': 'inverted' is not a modifier; did you mean invert? (there are invert, "
                "grey, rgb, size=, resample=, antialias=, grid=, pad=, subset=, seed=, first=, last=, repeat=, "
                "classes=, label=, drop=, categorical=, numeric=, without=)");
}

TEST(SetName, TakesColumnsWhoseNamesHoldCommasInQuotes) {
  const auto name = parse_set_name(R"(./a.csv,label="income, ""gross""",drop=id|"a|b",categorical=zip code)");
  EXPECT_EQ(name.set, "./a.csv");
  EXPECT_EQ(name.label, "income, \"gross\"");
  EXPECT_EQ(name.drop, (Names{"id", "a|b"}));
  EXPECT_EQ(name.categorical, Names{"zip code"});
  EXPECT_THROWS(ArgumentError, parse_set_name("./a.csv,drop=a|"),
                "data set './a.csv,drop=a|': 'drop=a|' should be drop=A|B|..., names of columns");
}

TEST(SetName, RejectsValuesAndNamesThePart) {
  const auto rejects = [](const std::string& part, const std::string& wanted) {
    EXPECT_THROWS(ArgumentError, parse_set_name("mnist," + part),
                  ("data set 'mnist," + part + "': '" + part + "' " + wanted).c_str());
  };
  for (const auto* part : {"size=0", "size=28x", "size=1x2x3", "size=-3", "size=2.5", "size=99999999999999999999"})
    rejects(part, "should be size=N or size=HEIGHTxWIDTH, whole numbers from 1 to 16384");
  rejects("resample=lanczos", "should be resample=nearest, resample=bilinear or resample=bicubic");
  rejects("antialias=yes", "should be antialias=on or antialias=off");
  rejects("grid=middle", "should be grid=centres or grid=corners");
  rejects("pad=-1", "should be pad=N with a whole number N from 0");
  rejects("subset=0", "should be subset=N with a whole number N from 1");
  rejects("subset=3 ", "should be subset=N with a whole number N from 1");
  rejects("first=x", "should be first=N with a whole number N from 1");
  rejects("seed=-1", "should be seed=N with a whole number N from 0");
  rejects("seed=1", "needs a subset=N");
  rejects("size=", "should be size=VALUE");
  rejects("size", "should be size=VALUE");
  rejects("invert=1", "should be invert alone");
  rejects("classes=a||b", "should be classes=A|B|..., names of classes");
  rejects("label=y", "is for a table; the labels of a named set are known");
}

TEST(SetName, RejectsASettingGivenTwice) {
  EXPECT_THROWS(ArgumentError, parse_set_name("mnist,subset=3,seed=1,seed=2"),
                "data set 'mnist,subset=3,seed=1,seed=2': 'seed=2' is a second seed=");
}

TEST(SetName, RejectsAnEmptySetOrSplit) {
  EXPECT_THROWS(ArgumentError, parse_set_name(""), "data set '': '' should be a name from the catalogue or a path");
  EXPECT_THROWS(ArgumentError, parse_set_name(",invert"),
                "data set ',invert': '' should be a name from the catalogue or a path");
  EXPECT_THROWS(ArgumentError, parse_set_name("mnist:"),
                "data set 'mnist:': 'mnist:' should name a split after the colon");
}

}  // namespace
}  // namespace priornet
