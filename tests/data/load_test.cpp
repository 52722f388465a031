#include <gtest/gtest.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <testing/made_up_sets.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/npy.h"

namespace priornet {
namespace {

namespace fs = std::filesystem;

struct Root : TemporaryFolder {
  LoadOptions options() const { return {*this / "", true, nullptr}; }
  fs::path copy(const std::string& name) const { return *this / "" / "prepared" / (name + ".safetensors"); }
};

TEST(LoadSet, ReadsASetByNameAndKeepsACopy) {
  const Root root;
  make_up_semeion(root / "");
  const auto set = load_set("semeion", root.options());
  EXPECT_EQ(set.name, "semeion");
  EXPECT_EQ(set.inputs.sizes(), (std::vector<int64_t>{1593, 1, 16, 16}));
  EXPECT_EQ(set.labels[1234].item<int64_t>(), 4);
  EXPECT_EQ(set.class_names.size(), 10u);
  EXPECT_TRUE(fs::exists(root.copy("semeion-all")));
  const auto again = load_set("semeion:all", root.options());
  EXPECT_EQ(again.name, "semeion:all");
  EXPECT_TRUE(again.inputs.equal(set.inputs));
  EXPECT_TRUE(again.labels.equal(set.labels));
  EXPECT_EQ(again.class_names, set.class_names);
}

TEST(LoadSet, UsesTheCopyWhereTheOriginalsAreGone) {
  const Root root;
  make_up_semeion(root / "");
  const auto set = load_set("semeion", root.options());
  fs::remove_all(root / "semeion");
  EXPECT_TRUE(load_set("semeion", root.options()).inputs.equal(set.inputs));
  auto without_copies = root.options();
  without_copies.prepared_copies = false;
  EXPECT_THROW(load_set("semeion", without_copies), DataError);
}

TEST(LoadSet, RebuildsTheCopyWhenTheOriginalsChange) {
  const Root root;
  make_up_semeion(root / "");
  load_set("semeion", root.options());
  auto bytes = bytes_of(root / "semeion/semeion.data");
  bytes[0] = '1';
  std::ofstream(root / "semeion/semeion.data") << bytes;
  fs::last_write_time(root / "semeion/semeion.data", fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(load_set("semeion", root.options()).inputs[0][0][0][0].item<int64_t>(), 255);
  fs::remove_all(root / "semeion");
  EXPECT_EQ(load_set("semeion", root.options()).inputs[0][0][0][0].item<int64_t>(), 255);
}

TEST(LoadSet, RebuildsADamagedCopy) {
  const Root root;
  make_up_semeion(root / "");
  const auto set = load_set("semeion", root.options());
  const auto good = bytes_of(root.copy("semeion-all"));
  auto damaged = good;
  damaged[5000] = static_cast<char>(damaged[5000] ^ 1);
  for (const auto& bytes : {damaged, good.substr(0, 6000), std::string("no copy"), std::string()}) {
    std::ofstream(root.copy("semeion-all"), std::ios::binary) << bytes;
    EXPECT_TRUE(load_set("semeion", root.options()).inputs.equal(set.inputs));
    EXPECT_EQ(bytes_of(root.copy("semeion-all")), good);
  }
}

TEST(LoadSet, DoesWithoutACopyWhereNoneCanBeWritten) {
  const Root root;
  make_up_semeion(root / "");
  root.file("prepared", "in the way");
  EXPECT_EQ(load_set("semeion", root.options()).size(), 1593);
  EXPECT_EQ(load_set("semeion", root.options()).size(), 1593);
}

TEST(LoadSet, SlicesSplitsOutOfOneCopy) {
  const Root root;
  make_up_mnist(root / "");
  const auto mark = [&](const std::string& file, int64_t image, char value) {
    std::fstream stream(root / "" / "mnist" / file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(16 + 784 * image);
    stream.put(value);
  };
  mark("train-images-idx3-ubyte", 4'999, 1);
  mark("train-images-idx3-ubyte", 5'000, 2);
  mark("t10k-images-idx3-ubyte", 0, 3);
  const auto mark_of = [](const Dataset& set, int64_t row) { return set.inputs[row][0][0][0].item<int64_t>(); };
  const auto train = load_set("mnist", root.options());
  EXPECT_EQ(train.size(), 55'000);
  EXPECT_EQ(mark_of(train, 0), 2);
  const auto validation = load_set("mnist:validation", root.options());
  EXPECT_EQ(validation.size(), 5'000);
  EXPECT_EQ(mark_of(validation, 4'999), 1);
  const auto both = load_set("mnist:valid+test", root.options());
  EXPECT_EQ(both.size(), 15'000);
  EXPECT_EQ(mark_of(both, 4'999), 1);
  EXPECT_EQ(mark_of(both, 5'000), 3);
  EXPECT_EQ(both.labels[5'003].item<int64_t>(), 3);
  EXPECT_TRUE(fs::exists(root.copy("mnist-train")));
  EXPECT_TRUE(fs::exists(root.copy("mnist-test")));
}

TEST(LoadSet, SaysHowToGetASetThatIsNotThere) {
  const auto message =
      "semeion (all) is not in /nowhere: priornet data get semeion gets it; by hand, put semeion.data into "
      "/nowhere/semeion";
  EXPECT_THROWS(DataError, load_set("semeion", {"/nowhere", true, nullptr}), message);
}

TEST(LoadSet, RejectsAnotherNumberOfImagesThanTheCatalogueHas) {
  const Root root;
  make_up_semeion(root / "", 12);
  const auto message = (root / "semeion").string() + ": semeion-all should hold 1593 images, found 12";
  EXPECT_THROWS(DataError, load_set("semeion", root.options()), message.c_str());
  EXPECT_FALSE(fs::exists(root.copy("semeion-all")));
}

// Twelve 2x3 images whose first pixel is their number.
struct Images : Root {
  Images() {
    auto values = torch::zeros({12, 2, 3}, torch::kUInt8);
    values.select(1, 0).select(1, 0).copy_(torch::arange(12));
    write_npy(*this / "images.npy", values);
  }
  Dataset load(const std::string& modifiers) const {
    return load_set((*this / "images.npy").string() + modifiers, options());
  }
};

std::vector<int64_t> first_pixels(const Dataset& set) {
  std::vector<int64_t> numbers;
  for (int64_t n = 0; n < set.size(); ++n) numbers.push_back(set.inputs[n][0][0][0].item<int64_t>());
  return numbers;
}

TEST(Modifiers, WorkInTheOrderGiven) {
  const Images images;
  EXPECT_EQ(first_pixels(images.load(",first=5,last=2")), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(first_pixels(images.load(",last=2,first=1")), (std::vector<int64_t>{10}));
  // Padding is black, and inverting after it makes it white.
  EXPECT_EQ(first_pixels(images.load(",first=1,pad=1,invert")), (std::vector<int64_t>{255}));
  EXPECT_EQ(first_pixels(images.load(",first=1,invert,pad=1")), (std::vector<int64_t>{0}));
}

TEST(Modifiers, RepeatAllRows) {
  const Images images;
  EXPECT_EQ(first_pixels(images.load(",first=2,repeat=3")), (std::vector<int64_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(first_pixels(images.load(",first=2,repeat=1")), (std::vector<int64_t>{0, 1}));
  EXPECT_THROW(images.load(",repeat=0"), ArgumentError);
}

TEST(Modifiers, ChangeShapes) {
  const Images images;
  const auto shape = [&](const std::string& modifiers) { return images.load(modifiers).inputs.sizes().vec(); };
  EXPECT_EQ(shape(""), (std::vector<int64_t>{12, 1, 2, 3}));
  EXPECT_EQ(shape(",rgb,pad=2"), (std::vector<int64_t>{12, 3, 6, 7}));
  EXPECT_EQ(shape(",rgb,grey,size=5x4,resample=nearest"), (std::vector<int64_t>{12, 1, 5, 4}));
}

TEST(Modifiers, DrawSubsetsBySeed) {
  const Images images;
  const auto drawn = first_pixels(images.load(",subset=6,seed=3"));
  EXPECT_EQ(drawn.size(), 6u);
  EXPECT_EQ(drawn, first_pixels(images.load(",subset=6,seed=3")));
  EXPECT_NE(drawn, first_pixels(images.load(",subset=6,seed=4")));
}

TEST(Modifiers, SayWhatTheyCannotDo) {
  const Images images;
  const auto file = (images / "images.npy").string();
  const auto fails = [&](const std::string& modifiers, const std::string& message) {
    EXPECT_THROWS(DataError, images.load(modifiers), ("data set '" + file + modifiers + "': " + message).c_str());
  };
  fails(",first=13", "first=13 asks for more rows than there are (12)");
  fails(",subset=13", "subset=13 asks for more rows than there are (12)");
  fails(",classes=a", "classes= needs labels, and the set has none");
  fails(",without=cifar10", "without= needs labels, and the set has none");
  fails(",resample=bicubic", "resample=, antialias= and grid= need a size=");
  fails(",label=kind", "label=, drop=, categorical= and numeric= are for a .csv or .tsv file");
}

TEST(PathSet, ReadsATableWithItsLabels) {
  const Root root;
  const auto file = root.file("iris.csv", "a,kind,b\n1,x,2\n3,y,4\n5,x,6\n").string();
  const auto set = load_set(file + ",label=kind,classes=x", root.options());
  EXPECT_EQ(set.inputs.sizes(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(set.class_names, std::vector<std::string>{"x"});
  EXPECT_THROWS(DataError, load_set(file + ",label=kind,classes=z", root.options()),
                ("data set '" + file + ",label=kind,classes=z': there is no class z (there are x, y)").c_str());
  EXPECT_THROWS(DataError, load_set(file + ",label=kind,invert", root.options()),
                ("data set '" + file +
                 ",label=kind,invert': invert, grey, rgb, size= and pad= are for images, but the set holds numbers")
                    .c_str());
}

TEST(PathSet, ReadsAnIdxFileWithItsLabels) {
  const Root root;
  make_up_mnist(root / "");
  const auto set = load_set((root / "mnist/t10k-images-idx3-ubyte").string(), root.options());
  EXPECT_EQ(set.size(), 10'000);
  EXPECT_EQ(set.num_classes(), 10);
  fs::remove(root / "mnist/t10k-labels-idx1-ubyte");
  EXPECT_FALSE(load_set((root / "mnist/t10k-images-idx3-ubyte").string(), root.options()).has_labels());
}

TEST(PathSet, SaysHowToMakeATableOfWhatItDoesNotRead) {
  const Root root;
  for (const auto* ending : {".parquet", ".feather", ".arrow", ".xlsx"}) {
    const auto file = root.file(std::string("sales") + ending, "PAR1").string();
    const auto table = (root / "sales.csv.gz").string();
    for (const auto* options : {"", ",label=kind"}) {
      try {
        load_set(file + options, root.options());
        ADD_FAILURE() << ending << " was read";
      } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find("to_csv('" + table + "', index=False)"), std::string::npos)
            << error.what();
      }
    }
  }
}

TEST(PathSet, RejectsWhatIsNotThereOrUnknown) {
  const Root root;
  EXPECT_THROWS(DataError, load_set("/nowhere/photos", root.options()),
                "/nowhere/photos: there is no such file or folder");
  const auto file = root.file("notes.txt", "hello").string();
  EXPECT_THROWS(
      DataError, load_set(file, root.options()),
      (file + ": should be a folder or an archive of images, .csv, .tsv, .npy, .npz, .mat, or an IDX file (with idx "
              "in its name)")
          .c_str());
}

}  // namespace
}  // namespace priornet
