#include <priornet/learning/logits.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "learning/data/npy.h"

#include <limits>

namespace priornet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What read_logits says about this tensor in an .npy file, without the name of the file.
std::string error_of(const torch::Tensor& logits) {
  const TemporaryFolder folder;
  const auto path = folder / "a.npy";
  write_npy(path, logits);
  try {
    read_logits({path});
    return "no error";
  } catch (const DataError& error) {
    const std::string message = error.what();
    return message.starts_with(path.string()) ? message.substr(path.string().size()) : "does not name the file";
  }
}

TEST(ReadLogits, ReadsOneModelOrAnEnsemble) {
  const TemporaryFolder folder;
  const auto ensemble = torch::rand({3, 4, 2});
  write_npy(folder / "all.npy", ensemble);
  EXPECT_TRUE(read_logits({folder / "all.npy"}).equal(ensemble));
  write_npy(folder / "one.npy", ensemble[0]);
  EXPECT_TRUE(read_logits({folder / "one.npy"}).equal(ensemble[0]));
  const auto csv = read_logits({folder.file("a.csv", "cat,dog\n1,2\n3,4\n")});
  EXPECT_TRUE(csv.equal(torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::kFloat64)));
}

TEST(ReadLogits, StacksFilesAsMembers) {
  const TemporaryFolder folder;
  const auto csv = folder.file("a.csv", "1,2\n3,4\n");
  write_npy(folder / "b.npy", torch::tensor({{5.0f, 6.0f}, {7.0f, 8.0f}}));
  const auto wanted = torch::tensor({{{1.0, 2.0}, {3.0, 4.0}}, {{5.0, 6.0}, {7.0, 8.0}}}, torch::kFloat64);
  EXPECT_TRUE(read_logits({csv, folder / "b.npy"}).equal(wanted));
}

TEST(ReadLogits, ReadsSafetensors) {
  const TemporaryFolder folder;
  const auto values = torch::tensor({{1.0f, 2.0f}, {3.0f, 4.5f}});
  for (const auto type : {torch::kFloat32, torch::kHalf, torch::kBFloat16}) {
    write_tensor_file(folder / "a.safetensors", {{"scores", values.to(type)}});
    EXPECT_TRUE(read_logits({folder / "a.safetensors"}).equal(values));
  }
  write_tensor_file(folder / "b.safetensors", {{"other", values}, {"logits", values * 2}});
  EXPECT_TRUE(read_logits({folder / "b.safetensors"}).equal(values * 2));
  EXPECT_TRUE(read_logits({folder / "b.safetensors"}, {.array = "other"}).equal(values));
  EXPECT_THROWS(DataError, read_logits({folder / "b.safetensors"}, {.array = "none"}),
                ((folder / "b.safetensors").string() + ": has no array none: name one of logits, other").c_str());
}

TEST(ReadLogits, ReadsFeatures) {
  const TemporaryFolder folder;
  const auto values = torch::tensor({{1.0, 2.0, 0.5}, {3.0, 4.5, 1.0}}, torch::kFloat64);
  write_npy(folder / "f.npy", values);
  EXPECT_TRUE(read_features(folder / "f.npy", 2).equal(values.to(torch::kFloat32)));
  write_tensor_file(folder / "a.safetensors", {{"logits", values}, {"features", values * 2}});
  EXPECT_TRUE(read_features(folder / "a.safetensors", 2).equal((values * 2).to(torch::kFloat32)));
  const auto refused = [&](const torch::Tensor& features, const std::string& why) {
    write_npy(folder / "f.npy", features);
    EXPECT_THROWS(DataError, read_features(folder / "f.npy", 2), ((folder / "f.npy").string() + why).c_str());
  };
  refused(torch::zeros({3, 4}), ": has features of 3 inputs, but the logits have 2");
  refused(torch::zeros({2}), ": features should be [N, F], found shape [2]");
  refused(torch::zeros({2, 2}, torch::kInt64), ": features should be float32 or float64, found int64");
  refused(torch::tensor({{1.0F, 2.0F}, {INFINITY, 0.0F}}),
          ": features[1, 0] is inf: row 1, column 0 (counted from 0) should be finite");
  refused(torch::full({2, 2}, 1e300, torch::kFloat64), ": features should be no larger than float32 holds");
}

TEST(ReadLogits, ReadsLabels) {
  const TemporaryFolder folder;
  write_npy(folder / "y.npy", torch::tensor({0, 2, 1}, torch::kInt64));
  EXPECT_TRUE(read_labels(folder / "y.npy", 3, 3).equal(torch::tensor({0, 2, 1}, torch::kInt64)));
  const auto refused = [&](int64_t rows, int64_t classes, const std::string& why) {
    EXPECT_THROWS(DataError, read_labels(folder / "y.npy", rows, classes), ((folder / "y.npy").string() + why).c_str());
  };
  refused(4, 3, ": has 3 labels, but the logits have 4 rows");
  refused(3, 2, ": row 1 (counted from 0) should be the number of a class, 0 to 1, found 2");
}

TEST(ReadLogits, WantsMembersOfOneShape) {
  const TemporaryFolder folder;
  const auto two = folder.file("two.csv", "1,2\n");
  const auto three = folder.file("three.csv", "1,2,3\n");
  EXPECT_THROWS(DataError, read_logits({two, three}),
                (three.string() + ": has shape [1, 3], " + two.string() + " has [1, 2]").c_str());
  write_npy(folder / "ensemble.npy", torch::rand({2, 1, 2}));
  EXPECT_THROWS(DataError, read_logits({two, folder / "ensemble.npy"}),
                ((folder / "ensemble.npy").string() + ": a member should be [N, K], found shape [2, 1, 2]").c_str());
}

TEST(ReadLogits, NamesRowAndColumnOfWhatIsNotFinite) {
  auto logits = torch::zeros({5, 10}, torch::kFloat64);
  logits[3][7] = kNan;
  EXPECT_EQ(error_of(logits), ": logits[3, 7] is nan: row 3, column 7 (counted from 0) should be finite");
  EXPECT_EQ(error_of(logits.to(torch::kFloat32)),
            ": logits[3, 7] is nan: row 3, column 7 (counted from 0) should be finite");
  auto ensemble = torch::zeros({2, 5, 10});
  ensemble[1][4][0] = -kInfinity;
  EXPECT_EQ(error_of(ensemble),
            ": logits[1, 4, 0] is -inf: member 1, row 4, column 0 (counted from 0) should be finite");
  const TemporaryFolder folder;
  const auto csv = folder.file("a.csv", "cat,dog\n1,2\n3,inf\n");
  EXPECT_THROWS(DataError, read_logits({csv}),
                (csv.string() + ": logits[1, 1] is inf: row 1, column 1 (counted from 0) should be finite").c_str());
}

TEST(ReadLogits, RefusesOtherShapesAndDtypes) {
  EXPECT_EQ(error_of(torch::zeros({5})), ": logits should be [N, K], or [M, N, K] for an ensemble, found shape [5]");
  EXPECT_EQ(error_of(torch::zeros({1, 2, 3, 4})),
            ": logits should be [N, K], or [M, N, K] for an ensemble, found shape [1, 2, 3, 4]");
  EXPECT_EQ(error_of(torch::zeros({5, 1})), ": logits should have at least 2 classes, found shape [5, 1]");
  EXPECT_EQ(error_of(torch::zeros({0, 3})), ": holds no rows: shape [0, 3]");
  EXPECT_EQ(error_of(torch::zeros({5, 3}, torch::kInt64)), ": logits should be float32 or float64, found int64");
}

// Tables as pandas writes them with an index; rows in which a value is missing.
TEST(ReadLogits, RefusesAFirstLineThatMayBeAHeaderOrARow) {
  const TemporaryFolder folder;
  const auto refused = [&](const char* text, const std::string& reason) {
    const auto csv = folder.file("a.csv", text);
    EXPECT_THROWS(DataError, read_logits({csv}), (csv.string() + ": line 1" + reason).c_str());
  };
  refused(",0,1\n0,0.5,2\n", ", column 1: found an empty value: wanted only numbers, or a name for every class");
  refused(",cat,dog\n0,0.5,2\n", ", column 1: found an empty value: wanted only numbers, or a name for every class");
  refused("1,,2\n3,4,5\n", ", column 2: found an empty value: wanted only numbers, or a name for every class");
  refused("1,NA\n3,4\n", ", column 2: found \"NA\": wanted only numbers, or a name for every class");
  refused("0,1,2\n0.5,2,3\n", " counts from 0 to 2 like a header: wanted logits, or names that are not numbers");
  EXPECT_EQ(read_logits({folder.file("b.csv", "0,1\n1,0\n")}).size(0), 2);
  EXPECT_EQ(read_logits({folder.file("c.csv", "0,1,3\n")}).size(0), 1);
}

TEST(ReadLogits, ListsTheExtensionsItKnows) {
  EXPECT_THROWS(DataError, read_logits({"a.txt"}), "a.txt: extension .txt is not supported: wanted .npy, .npz or .csv");
  EXPECT_THROWS(DataError, read_logits({"logits"}),
                "logits: has no extension to tell its format: wanted .npy, .npz or .csv");
}

TEST(ReadLogits, TakesArrayNamesForNpzOnly) {
  EXPECT_THROWS(DataError, read_logits({"a.npy"}, {.array = "x"}),
                "a.npy: has no array x: only .npz and .safetensors name their arrays");
}

#ifdef PRIORNET_HAVE_LIBARCHIVE
TEST(ReadLogits, ChoosesTheArrayOfAnNpz) {
  EXPECT_EQ(read_logits({fixture("compressed.npz")}).sizes().vec(), std::vector<int64_t>({50, 10}));
  const auto plain = fixture("plain.npz");
  EXPECT_EQ(read_logits({plain}, {.array = "second"}).sizes().vec(), std::vector<int64_t>({2, 3}));
  EXPECT_THROWS(
      DataError, read_logits({plain}),
      (plain.string() + ": has several arrays and none has the name logits: name one of second, first").c_str());
}
#endif

}  // namespace
}  // namespace priornet
