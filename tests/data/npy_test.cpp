#include "learning/data/npy.h"
#include <priornet/uncertainty/errors.h>
#include <testing/fixtures.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

namespace priornet {
namespace {

// A version 1 file with this dict as its header and `data_bytes` bytes of data.
std::string npy(std::string dict, size_t data_bytes) {
  std::string bytes = "\x93NUMPY";
  bytes.append({'\1', '\0', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)});
  return bytes + dict + std::string(data_bytes, '\0');
}

std::string error_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.npy", bytes);
  try {
    read_npy(path);
    return "no error";
  } catch (const DataError& error) {
    const std::string message = error.what();
    return message.starts_with(path.string()) ? message.substr(path.string().size()) : "does not name the file";
  }
}

TEST(ReadNpy, ReadsWhatNumPyWrote) {
  const auto values = torch::arange(6, torch::kFloat64).reshape({2, 3}) / 4;
  EXPECT_TRUE(read_npy(fixture("float64.npy")).equal(values));
  EXPECT_TRUE(read_npy(fixture("float32.npy")).equal(values.to(torch::kFloat32)));
  EXPECT_TRUE(read_npy(fixture("int64.npy")).equal(torch::tensor({3, -1, 2}, torch::kInt64)));
  EXPECT_TRUE(read_npy(fixture("version2.npy")).equal(values));
  EXPECT_TRUE(read_npy(fixture("version3.npy")).equal(values));
  const auto scalar = read_npy(fixture("scalar.npy"));
  EXPECT_EQ(scalar.dim(), 0);
  EXPECT_EQ(scalar.item<double>(), 2.5);
}

// 1.5 and -2 in half precision: 0x3e00, 0xc000; in bfloat16: 0x3fc0, 0xc000.
TEST(ReadNpy, ReadsFortranOrderAndHalfPrecision) {
  EXPECT_TRUE(read_npy(fixture("fortran.npy")).equal(torch::arange(6, torch::kFloat64).reshape({2, 3}) / 4));
  EXPECT_TRUE(read_npy(fixture("fortran.npy")).is_contiguous());
  const TemporaryFolder folder;
  const auto read = [&](const std::string& code, const std::string& bytes) {
    const auto dict = "{'descr': '" + code + "', 'fortran_order': False, 'shape': (2,)}";
    return read_npy(folder.file("a.npy", npy(dict, 0) + bytes));
  };
  const auto wanted = torch::tensor({1.5f, -2.0f});
  EXPECT_TRUE(read("<f2", std::string("\x00\x3e\x00\xc0", 4)).equal(wanted));
  for (const auto* code : {"<V2", "|V2"})
    EXPECT_TRUE(read(code, std::string("\xc0\x3f\x00\xc0", 4)).equal(wanted)) << code;
}

TEST(ReadNpy, ReadsBytes) {
  const TemporaryFolder folder;
  const auto values = torch::arange(250, 256, torch::kUInt8).reshape({2, 3});
  write_npy(folder / "a.npy", values);
  EXPECT_NE(bytes_of(folder / "a.npy").find("'descr': '|u1'"), std::string::npos);
  EXPECT_TRUE(read_npy(folder / "a.npy").equal(values));
}

TEST(ReadNpy, TakesAnyLayoutOfTheDict) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& dict) {
    return read_npy(folder.file("a.npy", npy(dict, 24))).sizes().vec();
  };
  EXPECT_EQ(read("{\"shape\":(3,),\"descr\":\"<f8\",\"fortran_order\":False}"), std::vector<int64_t>({3}));
  EXPECT_EQ(read("  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) , } \n"),
            std::vector<int64_t>({2, 3}));
  EXPECT_EQ(read("{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 1L)}"), std::vector<int64_t>({3, 1}));
}

TEST(ReadNpy, TakesEmptyArrays) {
  const TemporaryFolder folder;
  const auto path = folder.file("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 10)}", 0));
  EXPECT_EQ(read_npy(path).sizes().vec(), std::vector<int64_t>({0, 10}));
}

TEST(ReadNpy, CountsTheBytesThatAreMissingOrTooMany) {
  const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (10, 10)}";
  EXPECT_EQ(error_of(npy(dict, 120)), ": [10, 10] needs 800 bytes from byte 69 on, but at most 120 can follow");
  EXPECT_EQ(error_of(npy(dict, 801)), ": goes on after byte 869, where the array [10, 10] ends");
}

TEST(ReadNpy, DoesNotAllocateWhatAHeaderOnlyPromises) {
  EXPECT_EQ(error_of(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000)}", 8)),
            ": [1000000000000, 1000] needs 8000000000000000 bytes from byte 82 on, but at most 8 can follow");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8)),
            ": [4294967296, 4294967296] does not fit in memory");
  EXPECT_EQ(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}", 0)),
            ": [0, 4294967296, 4294967296] does not fit in memory");
}

// Labels come in the smallest type that holds them.
TEST(ReadNpy, TakesIntegersOfEverySizeAndBool) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& code, const std::string& bytes, int64_t count) {
    const auto dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},)}}", code, count);
    return read_npy(folder.file("a.npy", npy(dict, 0) + bytes)).to(torch::kInt64);
  };
  const auto numbers = [](std::vector<int64_t> values) { return torch::tensor(values, torch::kInt64); };
  EXPECT_TRUE(read("|b1", {'\0', '\1'}, 2).equal(numbers({0, 1})));
  EXPECT_TRUE(read("|i1", {'\2', '\376'}, 2).equal(numbers({2, -2})));
  EXPECT_TRUE(read("<i2", {'\2', '\1', '\376', '\377'}, 2).equal(numbers({258, -2})));
  EXPECT_TRUE(read("<u2", {'\2', '\1', '\376', '\377'}, 2).equal(numbers({258, 65534})));
  EXPECT_TRUE(read("<u4", {'\376', '\377', '\377', '\377'}, 1).equal(numbers({4294967294})));
  EXPECT_TRUE(read("<u8", {'\7', '\0', '\0', '\0', '\0', '\0', '\0', '\0'}, 1).equal(numbers({7})));
}

TEST(ReadNpy, RefusesOtherDtypes) {
  const auto refused = [](const std::string& name, const std::string& why) {
    EXPECT_THROWS(DataError, read_npy(fixture(name)), (fixture(name).string() + why).c_str());
  };
  const std::string wanted =
      " is not supported: wanted numbers in little-endian order: float16, float32, float64, integers of any size or "
      "bool";
  refused("big_endian.npy", ": dtype '>f8'" + wanted);
  refused("structured.npy", ": dtype [('a', '<f4'), ('b', '<i8')]" + wanted);
}

TEST(ReadNpy, RefusesWhatIsNotAnArray) {
  EXPECT_EQ(error_of(""), ": is empty");
  EXPECT_EQ(error_of("1.0,2.0\n"), ": is not an .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(error_of("\x93NUM"), ": is not an .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(error_of("\x93NUMPY"), ": ends inside the .npy header");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\4\0\0\0\0\0", 12)), ": .npy version 4 is not supported: wanted 1, 2 or 3");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\1\0\x50\0{'de", 14)),
            ": ends inside the .npy header: wanted 80 bytes, found 4");
  EXPECT_EQ(error_of(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)),
            ": the .npy header claims 4294967295 bytes, more than any header needs");
  const std::string not_a_dict = ": the .npy header is not a dict of descr, fortran_order and shape";
  for (const auto* dict : {"", "{", "{}", "[]", "{'descr': '<f8', 'fortran_order': False", "{'descr' '<f8'}",
                           "{'descr': '<f8', 'fortran_order': False}", "{'descr: 3, 'shape': (1,), 'fortran_order': 1}",
                           "{'descr': '<f8', 'fortran_order': False, 'shape': (3,]}"})
    EXPECT_EQ(error_of(npy(dict, 8)), not_a_dict) << dict;
  for (const auto* shape : {"3", "(-1,)", "(1.5,)", "('a',)", "(99999999999999999999,)", "None"})
    EXPECT_EQ(error_of(npy(std::string("{'descr': '<f8', 'fortran_order': False, 'shape': ") + shape + "}", 8)),
              ": the shape in the .npy header is not a tuple of sizes")
        << shape;
  EXPECT_EQ(error_of(npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", 8)),
            ": fortran_order in the .npy header is 0: wanted False");
}

TEST(ReadNpy, NamesAFileThatIsNotThere) {
  EXPECT_THROWS(DataError, read_npy("no/such.npy"), "no/such.npy: cannot be read: No such file or directory");
  EXPECT_THROWS(DataError, read_npy("/"), "/: cannot be read: Is a directory");
}

TEST(WriteNpy, WritesTheBytesThatNumPyWrites) {
  const TemporaryFolder folder;
  const auto values = torch::arange(6, torch::kFloat64).reshape({2, 3}) / 4;
  const auto same = [&](const torch::Tensor& tensor, const std::string& name) {
    write_npy(folder / name, tensor);
    EXPECT_EQ(bytes_of(folder / name), bytes_of(fixture(name))) << name;
  };
  same(values, "float64.npy");
  same(values.t().contiguous().t(), "float64.npy");
  same(values.to(torch::kFloat32), "float32.npy");
  same(torch::tensor({3, -1, 2}, torch::kInt64), "int64.npy");
  same(torch::tensor(2.5, torch::kFloat64), "scalar.npy");
}

TEST(WriteNpy, RefusesOtherDtypes) {
  const TemporaryFolder folder;
  EXPECT_THROWS(ArgumentError, write_npy(folder / "a.npy", torch::zeros(3, torch::kBool)),
                "write_npy: values should be float32, float64, int32, int64 or uint8, found Bool");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace priornet
