#include <priornet/uncertainty/errors.h>
#include <testing/made_up_model.h>
#include <testing/throws.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tool/server/http_messages.h"
#include "tool/server/tensor_protocol.h"

namespace priornet::serving {
namespace {

const ModelDescription& images() {
  static const auto model = made_up_model();
  return model.description;
}

TensorRequest read(const std::string& body, const std::string& length = "", const ModelDescription& model = images()) {
  return read_tensor_request(model, body, length, 16);
}

std::string input(const std::string& rest) { return R"({"inputs":[{"name":"input",)" + rest + "}]}"; }

TEST(TensorRequest, TakesFlatAndNestedNumbers) {
  const std::string bytes = {'\1', '\2', '\3', '\4'};
  EXPECT_EQ(read(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":[1,2,3,4])")).inputs, bytes);
  EXPECT_EQ(read(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":[[[[1,2],[3,4]]]])")).inputs, bytes);
  const auto floats = read(input(R"("datatype":"FP32","shape":[1,1,2,2],"data":[0,1,0.5,0.2])"));
  EXPECT_EQ(floats.inputs, (std::string{'\0', '\377', '\200', '\63'})) << "fractions of full brightness";
  EXPECT_EQ(floats.rows, 1);
  EXPECT_EQ(floats.outputs.size(), 9U) << "all of them";
}

TEST(TensorRequest, TakesBinaryData) {
  const std::string head = input(R"("datatype":"UINT8","shape":[2,1,2,2],"parameters":{"binary_data_size":8})");
  EXPECT_EQ(read(head + "abcdefgh", std::to_string(head.size())).inputs, "abcdefgh");
  const std::string floats = input(R"("datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8})");
  const float row[2] = {-1.5F, 2.0F};
  const std::string bytes(reinterpret_cast<const char*>(row), sizeof row);
  EXPECT_EQ(read(floats + bytes, std::to_string(floats.size()), made_up_table_model().description).inputs, bytes);
}

// One number in each type: 0.5 is exact in all of them.
TEST(TensorRequest, TakesEveryPrecision) {
  const std::pair<std::string, std::string> halves[] = {{"FP16", std::string("\x00\x38", 2)},
                                                        {"BF16", std::string("\x00\x3f", 2)},
                                                        {"FP32", std::string("\0\0\0\x3f", 4)},
                                                        {"FP64", std::string("\0\0\0\0\0\0\xe0\x3f", 8)}};
  for (const auto& [type, half] : halves) {
    const auto head = input(R"("datatype":")" + type + R"(","shape":[1,1,2,2],"parameters":{"binary_data_size":)" +
                            std::to_string(4 * half.size()) + "}");
    EXPECT_EQ(read(head + half + half + half + half, std::to_string(head.size())).inputs, "\x80\x80\x80\x80") << type;
  }
  const auto numbers =
      read(input(R"("datatype":"FP64","shape":[1,2],"data":[0.5,-2])"), "", made_up_table_model().description);
  EXPECT_EQ(numbers.inputs, std::string("\0\0\0\x3f\0\0\0\xc0", 8));
}

TEST(TensorRequest, TakesNullForWhatMayBeLeftOut) {
  const auto request = read(
      R"({"id":null,"parameters":null,"outputs":null,"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,2,2],)"
      R"("parameters":null,"data":[0,0,0,0]}]})");
  EXPECT_FALSE(request.id);
  EXPECT_EQ(request.outputs.size(), 9U);
}

TEST(TensorRequest, SelectsOutputs) {
  const auto request =
      read(R"({"id":"7","inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,2,2],"data":[0,0,0,0]}],
    "outputs":[{"name":"verdict"},{"name":"p_value","parameters":{"binary_data":true}}]})");
  ASSERT_EQ(request.outputs.size(), 2U);
  EXPECT_EQ(request.id, "7");
  EXPECT_FALSE(request.outputs[0].binary);
  EXPECT_TRUE(request.outputs[1].binary);
}

void expect_refused(const std::string& body, const char* reason, const std::string& length = "") {
  EXPECT_THROWS(ArgumentError, read(body, length), reason);
}

TEST(TensorRequest, SaysWhatIsWrong) {
  expect_refused("{\"inputs\":", "the body should be JSON, but it is not JSON at byte 11");
  expect_refused("[]", "the body should be a JSON object");
  expect_refused("{}", "inputs is missing");
  expect_refused(R"({"inputs":{}})", "inputs should be an array");
  expect_refused(R"({"inputs":[]})", "inputs should hold one tensor, found 0");
  expect_refused(input(R"("shape":[1,1,2,2],"data":[])"), "datatype is missing");
  expect_refused(R"({"inputs":[{"shape":[1,1,2,2],"data":[]}]})", "name is missing");
  expect_refused(R"({"inputs":[{"name":"x"}]})", "there is no input 'x'; the input is input");
  expect_refused(input(R"("datatype":"FP8","shape":[1,1,2,2],"data":[])"),
                 "datatype should be one of UINT8, FP16, BF16, FP32, FP64, found FP8");
  expect_refused(input(R"("datatype":"FP16","shape":[1,1,2,2],"data":[0,0,0,0])"),
                 "FP16 should come as binary data: JSON has no such numbers");
  expect_refused(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":null)"), "data is missing");
  expect_refused(R"({"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,2,2],"data":[0,0,0,0]}],)"
                 R"("outputs":[{"name":"entropy","parameters":{"classification":2}}]})",
                 "classification is for outputs with one value per class, and entropy is not one of them");
  expect_refused(input(R"("datatype":"UINT8","shape":[1,1,2,3],"data":[])"),
                 "the shape of the input should be [N, 1, 2, 2], found [1,1,2,3]");
  expect_refused(input(R"("datatype":"UINT8","shape":[-1,1,2,2],"data":[])"),
                 "the shape of the input should be [N, 1, 2, 2], found [-1,1,2,2]");
  expect_refused(input(R"("datatype":"UINT8","shape":[18446744073709551615,1,2,2],"data":[])"),
                 "a request should hold at most 16 inputs, found 18446744073709551615");
  expect_refused(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":[1,2,3])"),
                 "data should hold 4 numbers, as the shape says, found 3");
  expect_refused(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":[1,2,3,256])"),
                 "the data should be whole numbers in [0, 255], found 256 at index 3");
  expect_refused(input(R"("datatype":"FP32","shape":[1,1,2,2],"data":[0,0,0,17])"),
                 "the data should be in [0, 1], as FP32 pixels are, found 17 at index 3");
  expect_refused(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":["a",2,3,4])"), "data should hold numbers only");
  expect_refused(input(R"("datatype":"UINT8","shape":[1,1,2,2],"data":7)"), "data should be one array of numbers");
  expect_refused(
      R"({"inputs":[{"name":"input","datatype":"UINT8","shape":[1,1,2,2],"data":[0,0,0,0]}],"outputs":[{"name":"logits"}]})",
      "there is no output 'logits'; the outputs are prediction, probability, probabilities, alphas, entropy, "
      "mutual_information, p_value, verdict, verdict_by");
  expect_refused(input(R"("datatype":"FP64","shape":[1,1,2,2],"data":[0,1e999,0,0])"),
                 "the number 1e999 is out of range: JSON numbers are read as float64");
  expect_refused(input(R"("datatype":"FP64","shape":[1,1,2,2],"data":[0,-1e300,0,0])"),
                 "the data should fit float32, at most 3.4e+38 in size, found -1e+300 at index 1");
  const auto double_head = input(R"("datatype":"FP64","shape":[1,2],"parameters":{"binary_data_size":16})");
  const double values[2] = {0.5, 1e300};
  const std::string value_bytes(reinterpret_cast<const char*>(values), sizeof values);
  EXPECT_THROWS(ArgumentError,
                read(double_head + value_bytes, std::to_string(double_head.size()), made_up_table_model().description),
                "the data should fit float32, at most 3.4e+38 in size, found 1e+300 at index 1");
  expect_refused("{}", "Inference-Header-Content-Length should be at most the body's 2 bytes, found '3'", "3");
  const auto head = input(R"("datatype":"UINT8","shape":[2,1,2,2],"parameters":{"binary_data_size":8})");
  expect_refused(head + "abc", "the input should have 8 bytes of binary data, found 3, and binary_data_size says 8",
                 std::to_string(head.size()));
}

TEST(FeatureRow, MayBeLong) {
  ModelDescription wide;
  wide.shape = {5000};
  std::string row = "1";
  for (int i = 1; i < 5000; ++i) row += ",1";
  EXPECT_EQ(read_row_request(wide, "{\"features\":[" + row + "]}", {}).inputs.size(), 5000 * sizeof(float));
}

ModelDescription table_description() {
  auto encoding = std::make_shared<TableEncoding>();
  TableColumn age, id, colour;
  age.name = "age";
  age.fill = 37;
  id.name = "id";
  id.type = ColumnType::kDropped;
  colour.name = "colour";
  colour.type = ColumnType::kCategory;
  colour.levels = {"red", "blue"};
  encoding->columns = {age, id, colour};
  ModelDescription model;
  model.encoding = encoding;
  model.shape = {encoding->width()};
  return model;
}

std::vector<float> numbers_of(const RowRequest& request) {
  std::vector<float> numbers(request.inputs.size() / sizeof(float));
  std::memcpy(numbers.data(), request.inputs.data(), request.inputs.size());
  return numbers;
}

using Numbers = std::vector<float>;
using Names = std::vector<std::string>;
using Notes = std::vector<Names>;

TEST(RowRequest, TakesRowsByTheNamesOfColumns) {
  const auto model = table_description();
  const auto one = read_row_request(model, R"({"features":{"colour":"blue","age":31,"id":"x"}})", {});
  EXPECT_EQ(numbers_of(one), (Numbers{31, 0, 1}));
  EXPECT_FALSE(one.several);
  EXPECT_EQ(one.notes, Notes{{}});
  for (const auto* body : {R"({"rows":[{"age":31,"colour":"red"},{"colour":"mauve","size":3}]})",
                           R"([{"age":"31","colour":"red"},{"age":null,"colour":"mauve","size":3}])"}) {
    const auto several = read_row_request(model, body, {"application/json", 2});
    EXPECT_EQ(numbers_of(several), (Numbers{31, 1, 0, 37, 0, 0})) << body;
    EXPECT_TRUE(several.several);
    EXPECT_EQ(several.notes[1].back(), "colour: \"mauve\" was not seen in training");
    EXPECT_EQ(several.notes[1].size(), 3U);
  }
  EXPECT_THROWS(ArgumentError, read_row_request(model, R"([{"age":1},{"age":2}])", {"", 1}),
                "a request should hold at most 1 inputs");
  EXPECT_THROWS(ArgumentError, read_row_request(model, R"([{"colur":"red"}])", {"", 1}),
                "a row has none of the model's columns: age, colour");
  EXPECT_THROWS(ArgumentError, read_row_request(model, R"({"rows":[]})", {}),
                "rows should be a list of at least one row");
}

TEST(RowRequest, TakesOneRowInTheOrderOfTheModel) {
  const auto model = table_description();
  EXPECT_EQ(numbers_of(read_row_request(model, R"({"features":[31,"blue"]})", {})), (Numbers{31, 0, 1}));
  EXPECT_THROWS(ArgumentError, read_row_request(model, R"({"features":[31]})", {}),
                "features should hold 2 values, found 1");
  for (const auto* body : {R"([31,"blue"])", R"([[31,"blue"]])", R"({"rows":[[31,"blue"]]})"})
    EXPECT_THROWS(
        ArgumentError, read_row_request(model, body, {"", 9}),
        "a row should be an object: {\"column\": value, ...}; values in the model's order are taken one row at "
        "a time: {\"features\": [value, ...]}");
  EXPECT_THROWS(ArgumentError, read_row_request(model, R"({"age":31,"colour":"blue"})", {}),
                "features are missing: {\"features\": {\"column\": value, ...}}, {\"features\": [value, ...]} in the "
                "model's order, or {\"rows\": [{...}, {...}]}");
}

TEST(RowRequest, SaysOfEachRowThatAColumnIsNotThere) {
  const auto model = table_description();
  const Names absent{"age: this column is not there; its values count as missing"};
  EXPECT_EQ(read_row_request(model, R"([{"colour":"red"},{"colour":"blue"}])", {"", 9}).notes, (Notes{absent, absent}));
  EXPECT_EQ(read_row_request(model, "colour\nred\nblue\n", {"text/csv", 9}).notes, (Notes{absent, absent}));
}

TEST(RowRequest, SaysThatAnImageIsNoRow) {
  auto model = table_description();
  model.name = "trees";
  const auto* message =
      "the model trees takes rows of a table, not an image; /predict?model=NAME asks another model of this server";
  EXPECT_THROWS(ArgumentError, read_row_request(model, "whatever", {"IMAGE/png", 1}), message);
  EXPECT_THROWS(ArgumentError, read_row_request(model, "\xff\xd8\xff\xe0", {"application/octet-stream", 1}), message);
}

TEST(RowRequest, TakesTables) {
  const auto model = table_description();
  const auto rows = read_row_request(model, "colour;age\nred;30,5\nblue;\n", {"Text/CSV; charset=utf-8", 9});
  EXPECT_EQ(numbers_of(rows), (Numbers{37, 1, 0, 37, 0, 1})) << "the model has no decimal commas";
  EXPECT_EQ(rows.notes[0], std::vector<std::string>{"age: \"30,5\" is not a number and counts as missing"});
  EXPECT_THROWS(ArgumentError, read_row_request(model, "a,b\n1,2\n", {"text/csv", 9}),
                "the first line of the table names none of the model's columns age, colour; it names a, b");
}

TEST(BoundedJson, StaysSmallWhateverComes) {
  EXPECT_THROWS(ArgumentError, read_bounded_json(std::string(1 << 20, '['), {}),
                "the JSON should be nested at most 16 levels deep");
  std::string many = "[0";
  for (int i = 0; i < 5000; ++i) many += ",0";
  EXPECT_THROWS(ArgumentError, read_bounded_json(many + "]", {}),
                "the JSON should hold at most 4096 values beside its data");
  EXPECT_EQ(read_bounded_json("{\"data\":" + many + "]}", {.takes_out_data = true}).numbers.front().size(), 5001U);
}

TEST(BoundedJson, LeavesDataAloneWhereItIsANameLikeAnyOther) {
  const auto read = read_bounded_json(R"({"rows":[{"data":[7,8]},{"data":[9]}]})", {});
  EXPECT_EQ(read.document["rows"][0]["data"], nlohmann::json({7, 8}));
  EXPECT_TRUE(read.numbers.empty());
}

TEST(TensorResponse, WritesJsonAndBytes) {
  const auto model = made_up_model();
  const auto answers = model.answer(std::string("\1\11\0\0\2\11\377\0", 8), 2);
  TensorRequest request;
  request.id = "a\"b";
  request.outputs = {{"prediction", false}, {"probability", true}, {"verdict", true}};
  const auto response = tensor_response(model.description, request, answers);
  ASSERT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.headers[0].first, "Inference-Header-Content-Length");
  const auto length = std::stoul(response.headers[0].second);
  const auto head = nlohmann::json::parse(response.body.substr(0, length));
  EXPECT_EQ(head["id"], "a\"b");
  EXPECT_EQ(head["outputs"][0],
            nlohmann::json::parse(R"({"name":"prediction","datatype":"INT64","shape":[2],"data":[1,2]})"));
  EXPECT_EQ(head["outputs"][1]["parameters"]["binary_data_size"], 16);
  double probability = 0;
  std::memcpy(&probability, response.body.data() + length, sizeof probability);
  EXPECT_EQ(probability, 10.0 / 12.0);
  EXPECT_EQ(response.body.substr(length + 16), std::string("\6\0\0\0accept\12\0\0\0unfamiliar", 24));
}

TEST(TensorResponse, NamesTheBestClasses) {
  const auto model = made_up_model();
  const auto answers = model.answer(std::string("\1\11\0\0\2\11\377\0", 8), 2);
  TensorRequest request;
  request.id = "";
  request.outputs = {{"probabilities", false, 2}};
  const auto response = nlohmann::json::parse(tensor_response(model.description, request, answers).body);
  EXPECT_EQ(response["id"], "") << "echoed, as it was given";
  EXPECT_EQ(response["outputs"][0], nlohmann::json::parse(R"({"name":"probabilities","datatype":"BYTES","shape":[2,2],
      "data":["0.833333:1:bee","0.083333:0:ant","0.833333:2:cat","0.083333:0:ant"]})"));
  request.outputs = {{"alphas", true, 1}};
  request.id.reset();
  const auto binary = tensor_response(model.description, request, answers).body;
  EXPECT_TRUE(binary.ends_with(std::string("\17\0\0\0", 4) + "10.000000:1:bee" + std::string("\17\0\0\0", 4) +
                               "10.000000:2:cat"))
      << binary;
  EXPECT_EQ(binary.find("\"id\""), std::string::npos);
}

TEST(ContentCoding, ExpandsWhatItCompressed) {
  const std::string text(100'000, 'x');
  for (const auto coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    const auto small = compressed(text, coding);
    EXPECT_LT(small.size(), 1000U);
    EXPECT_EQ(expanded(small, coding, 100'000), text);
    EXPECT_EQ(expanded(small, coding, 99'999), std::nullopt);
    EXPECT_EQ(expanded(compressed("", coding), coding, 0), "");
    EXPECT_THROW(expanded(small.substr(0, small.size() - 1), coding, 1 << 20), ArgumentError) << "breaks off";
    EXPECT_THROW(expanded(small + "x", coding, 1 << 20), ArgumentError) << "more than it should be";
    EXPECT_THROW(expanded("", coding, 1 << 20), ArgumentError);
  }
  const auto half = compressed(text.substr(0, 50'000), ContentCoding::kGzip);
  EXPECT_EQ(expanded(half + half, ContentCoding::kGzip, 100'000), text) << "gzip has members";
  EXPECT_EQ(expanded(half + half, ContentCoding::kGzip, 99'999), std::nullopt);
  EXPECT_THROW(expanded(half + half.substr(0, half.size() - 1), ContentCoding::kGzip, 100'000), ArgumentError);
  const auto zlib = compressed(text, ContentCoding::kDeflate);
  EXPECT_EQ(expanded(zlib.substr(2, zlib.size() - 6), ContentCoding::kDeflate, 100'000), text)
      << "bare, as some send it";
}

TEST(ContentCoding, IsChosenFromWhatIsAccepted) {
  EXPECT_EQ(accepted_coding("gzip, deflate, br"), ContentCoding::kGzip);
  EXPECT_EQ(accepted_coding("deflate"), ContentCoding::kDeflate);
  EXPECT_EQ(accepted_coding("deflate;q=0.5, gzip;q=0"), ContentCoding::kDeflate);
  EXPECT_EQ(accepted_coding("GZIP;Q=0"), ContentCoding::kIdentity);
  EXPECT_EQ(accepted_coding("br"), ContentCoding::kIdentity);
  EXPECT_EQ(accepted_coding(""), ContentCoding::kIdentity);
  EXPECT_EQ(content_coding("GZIP "), ContentCoding::kGzip);
  EXPECT_EQ(content_coding("br"), std::nullopt);
  EXPECT_EQ(content_coding("gzip, gzip"), std::nullopt);
}

TEST(Multipart, FindsTheFile) {
  const std::string type = "multipart/form-data; boundary=xx";
  const std::string form =
      "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--xx\r\nContent-Disposition: "
      "form-data; name=\"f\"; filename=\"x.png\"\r\n\r\n\x89PNG\r\n--x\r\n--xx--\r\n";
  EXPECT_EQ(file_of_form(type, form), "\x89PNG\r\n--x");
  EXPECT_THROWS(ArgumentError, file_of_form("multipart/form-data", form),
                "the form has no boundary in its Content-Type");
  EXPECT_THROWS(ArgumentError, file_of_form(type, form.substr(0, 60)), "the form breaks off inside a part");
  EXPECT_THROWS(ArgumentError, file_of_form(type, "--xx--"), "the form has no part");
  EXPECT_EQ(file_of_form(type, "--xx\r\n\r\n\r\n--xx--"), "");
  EXPECT_EQ(file_of_form(type,
                         "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--xx\r\nContent-Disposition: "
                         "form-data; name=\"f\"; filename*=UTF-8''d%C3%A9.png\r\n\r\nfile\r\n--xx--\r\n"),
            "file");
}

}  // namespace
}  // namespace priornet::serving
