#include <gtest/gtest.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

namespace priornet {
namespace {

std::vector<NamedTensor> some_tensors() {
  return {{"bytes", torch::arange(7).to(torch::kUInt8)},
          {"weights", torch::randn({3, 5})},
          {"counter", torch::tensor({42}, torch::kInt64)},
          {"half", torch::randn({2, 2}).to(torch::kBFloat16)},
          {"none", torch::empty({0, 4})}};
}

TEST(TensorFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const auto tensors = some_tensors();
  write_tensor_file(folder / "a", tensors, {{"step", "7"}, {"text", "\"quoted\"\n"}});
  const auto file = read_tensor_file(folder / "a");
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"step", "7"}, {"text", "\"quoted\"\n"}}));
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, values] : tensors) {
    EXPECT_TRUE(file.at(name).equal(values)) << name;
    EXPECT_EQ(file.at(name).dtype(), values.dtype());
  }
  EXPECT_THROWS(DataError, file.at("others"), ((folder / "a").string() + ": holds no tensor others").c_str());
}

// A file as the safetensors library writes it: {"a": F32 [2]} without metadata, header of 56 bytes.
TEST(TensorFile, ReadsAFileOfOthers) {
  const TemporaryFolder folder;
  std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string bytes(1, static_cast<char>(header.size()));
  bytes += std::string(7, '\0') + header + std::string("\0\0\x80\x3f\0\0\0\xc0", 8);
  const auto file = read_tensor_file(folder.file("a.safetensors", bytes));
  EXPECT_TRUE(file.at("a").equal(torch::tensor({1.0F, -2.0F})));
  EXPECT_TRUE(file.metadata.empty());
}

TEST(TensorFile, NoticesAnyByteThatChanged) {
  const TemporaryFolder folder;
  write_tensor_file(folder / "good", {{"a", torch::randn({5})}, {"b", torch::arange(3)}}, {{"key", "value"}});
  const auto bytes = bytes_of(folder / "good");
  for (size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_THROW(read_tensor_file(folder.file("damaged", damaged)), DataError) << "byte " << at;
  }
}

TEST(TensorFile, NoticesWhereItWasCutOff) {
  const TemporaryFolder folder;
  write_tensor_file(folder / "good", {{"a", torch::randn({500})}});
  const auto bytes = bytes_of(folder / "good");
  for (const auto size : {size_t{1}, size_t{8}, size_t{100}, size_t{4096}, bytes.size() - 1})
    EXPECT_THROW(read_tensor_file(folder.file("cut", bytes.substr(0, size))), DataError) << size;
  EXPECT_THROW(read_tensor_file(folder.file("longer", bytes + "x")), DataError);
  const auto empty = folder.file("empty", "");
  EXPECT_THROWS(DataError, read_tensor_file(empty), (empty.string() + ": is empty").c_str());
  EXPECT_THROW(read_tensor_file(folder / "absent"), DataError);
}

TEST(TensorFile, RefusesAHeaderThatLies) {
  const TemporaryFolder folder;
  const auto written = [&](const std::string& header) {
    const uint64_t size = header.size();
    std::string bytes(reinterpret_cast<const char*>(&size), 8);
    return folder.file("lie", bytes + header + std::string(8, '\0'));
  };
  const auto read = [&](const std::string& header) { read_tensor_file(written(header)); };
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[6e60,1],"data_offsets":[0,8]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8e60]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}})"), DataError);
  EXPECT_THROW(read(R"({"a":{"dtype":"F7","shape":[2],"data_offsets":[0,8]}})"), DataError);
  EXPECT_THROW(read(R"({"a":7})"), DataError);
  const auto refusal = [&](const std::string& header) {
    try {
      read(header);
    } catch (const DataError& error) {
      return std::string(error.what()).substr((folder / "lie").string().size());
    }
    return std::string("taken");
  };
  EXPECT_EQ(
      refusal(
          R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"),
      ": tensor b begins within another tensor, at byte 4 of the data");
  EXPECT_EQ(
      refusal(
          R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})"),
      ": has bytes that belong to no tensor, from byte 2 of the data on");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})"),
            ": goes on after byte 2 of the data, where the last tensor ends");
  EXPECT_EQ(
      refusal(
          R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[0],"data_offsets":[3,3]}})"),
      "taken");
  EXPECT_THROW(read("[]"), DataError);
}

TEST(TensorFile, LeavesTheFileAloneWhenATensorIsWrittenTo) {
  const TemporaryFolder folder;
  write_tensor_file(folder / "a", {{"a", torch::zeros({5})}});
  read_tensor_file(folder / "a").at("a").fill_(1.0);
  EXPECT_EQ(read_tensor_file(folder / "a").at("a").sum().item<double>(), 0.0);
}

TEST(TensorFile, KeepsSmallIntegersAndTruthValues) {
  const TemporaryFolder folder;
  for (const auto type : {torch::kBool, torch::kInt8, torch::kInt16}) {
    const auto values = torch::tensor({1, 0, 1}).to(type);
    write_tensor_file(folder / "a", {{"a", values}});
    EXPECT_TRUE(read_tensor_file(folder / "a").at("a").equal(values));
    EXPECT_EQ(read_tensor_file(folder / "a").at("a").scalar_type(), type);
  }
}

TEST(TensorFile, RefusesNamesAndDtypesItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_tensor_file(folder / "a", {{"a", torch::zeros({1}, torch::kComplexFloat)}}), ArgumentError);
  EXPECT_THROW(write_tensor_file(folder / "a", {{"a", torch::zeros({1})}, {"a", torch::zeros({1})}}), ArgumentError);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

}  // namespace
}  // namespace priornet
