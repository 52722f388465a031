#include <gtest/gtest.h>
#include <testing/running_server.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tool/server/http_messages.h"

// Requests byte by byte as tritonclient.http puts them on the wire: JSON without spaces, members in the order id,
// inputs, outputs, parameters; tensors after the JSON unless asked otherwise; outputs in binary unless some are named;
// compressed bodies whose Inference-Header-Content-Length is the length of the JSON before compression. Other requests
// are as in KServe's text on the REST protocol, with spaces and nested data.

namespace priornet {
namespace {

using nlohmann::json;
using serving::ContentCoding;

// What the client sends around a body: its own headers, then those of its HTTP library.
std::string on_the_wire(const std::string& path, const std::string& body, const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\n" + headers +
         "User-Agent: python/gevent-http-client-2.0.2\r\nHost: localhost:8000\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string header_length(size_t length) {
  return "Inference-Header-Content-Length: " + std::to_string(length) + "\r\n";
}

/// The two parts of an answer, as the client reads them.
struct Taken {
  json head;
  std::string tensors;
};

Taken taken(const HttpReply& reply) {
  EXPECT_EQ(reply.status, 200) << reply.body;
  auto body = reply.body;
  if (const auto coding = reply.headers.find("Content-Encoding"); coding != reply.headers.end())
    body = *serving::expanded(body, *serving::content_coding(coding->second), 1 << 20);
  const auto length = reply.headers.find("Inference-Header-Content-Length");
  const auto end = length == reply.headers.end() ? body.size() : std::stoul(length->second);
  return {json::parse(body.substr(0, end)), body.substr(end)};
}

HttpReply sent(const RunningServer& server, const std::string& request) {
  HttpClient client(server.port());
  client.send(request);
  return client.reply();
}

const std::string kInfer = "/v2/models/made-up/infer";
const std::string kImage("\1\11\0\0", 4);
const std::string kTensor =
    R"({"name":"input","shape":[1,1,2,2],"datatype":"UINT8","parameters":{"binary_data_size":4}})";

TEST(RecordedRequests, InferWithoutOutputsGetsAllOfThemInBinary) {
  const RunningServer server;
  const auto head = R"({"inputs":[)" + kTensor + R"(],"parameters":{"binary_data_output":true}})";
  const auto answer = taken(sent(server, on_the_wire(kInfer, head + kImage, header_length(head.size()))));
  EXPECT_FALSE(answer.head.contains("id"));
  EXPECT_EQ(answer.head["model_name"], "made-up");
  size_t bytes = 0;
  for (const auto& output : answer.head["outputs"]) {
    EXPECT_FALSE(output.contains("data")) << output;
    bytes += output["parameters"]["binary_data_size"].get<size_t>();
  }
  EXPECT_EQ(answer.tensors.size(), bytes);
  int64_t prediction = 0;
  std::memcpy(&prediction, answer.tensors.data(), sizeof prediction);
  EXPECT_EQ(prediction, 1);
}

TEST(RecordedRequests, InferWithIdSequenceAndOutputs) {
  const RunningServer server;
  const auto head =
      R"({"id":"7","inputs":[)" + kTensor +
      R"(],"outputs":[{"name":"prediction","parameters":{"binary_data":true}},)"
      R"({"name":"verdict","parameters":{"binary_data":false}}],)"
      R"("parameters":{"sequence_id":3,"sequence_start":true,"sequence_end":false,"priority":1,"timeout":1000}})";
  const auto answer = taken(sent(server, on_the_wire(kInfer, head + kImage, header_length(head.size()))));
  EXPECT_EQ(answer.head["id"], "7");
  EXPECT_EQ(answer.head["outputs"][1]["data"], json({"accept"}));
  EXPECT_EQ(answer.tensors.size(), 8U);
}

// InferRequestedOutput("probabilities", class_count=2): texts, each with its length before it.
TEST(RecordedRequests, InferWithClassCount) {
  const RunningServer server;
  const auto head = R"({"inputs":[)" + kTensor +
                    R"(],"outputs":[{"name":"probabilities","parameters":{"classification":2,"binary_data":true}}]})";
  const auto answer = taken(sent(server, on_the_wire(kInfer, head + kImage, header_length(head.size()))));
  EXPECT_EQ(answer.head["outputs"][0]["datatype"], "BYTES");
  EXPECT_EQ(answer.head["outputs"][0]["shape"], json({1, 2}));
  const auto text = [](const std::string& value) {
    return std::string{static_cast<char>(value.size()), '\0', '\0', '\0'} + value;
  };
  EXPECT_EQ(answer.tensors, text("0.833333:1:bee") + text("0.083333:0:ant"));
}

TEST(RecordedRequests, InferWithCompressionBothWays) {
  const RunningServer server;
  const auto head = R"({"inputs":[)" + kTensor + R"(],"parameters":{"binary_data_output":false}})";
  for (const auto coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    const std::string name(serving::name_of(coding));
    SCOPED_TRACE(name);
    const auto headers = "Content-Encoding: " + name + "\r\nAccept-Encoding: " + name + "\r\n";
    const auto request =
        on_the_wire(kInfer, serving::compressed(head + kImage, coding), headers + header_length(head.size()));
    EXPECT_EQ(taken(sent(server, request)).head["outputs"][0]["data"], json({1}));
    const auto metadata =
        sent(server, "GET /v2/models/made-up HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: " + name + "\r\n\r\n");
    EXPECT_EQ(metadata.headers.at("Content-Encoding"), name);
    EXPECT_EQ(taken(metadata).head["name"], "made-up");
  }
  EXPECT_EQ(sent(server, on_the_wire(kInfer, "body", "Content-Encoding: br\r\n")).status, 415);
  EXPECT_EQ(sent(server, on_the_wire(kInfer, "body", "Content-Encoding: gzip\r\n")).status, 400) << "it is not";
}

TEST(RecordedRequests, ExpandNoFurtherThanABodyMayBe) {
  serving::ServerOptions options;
  options.max_body = 100'000;
  options.memory = std::make_shared<serving::MemoryAccount>(1'000'000);
  const RunningServer server(options);
  const auto bomb = serving::compressed(std::string(10'000'000, ' '), ContentCoding::kGzip);
  const auto reply = sent(server, on_the_wire(kInfer, bomb, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(json::parse(reply.body)["error"], "the expanded body should have at most 100000 bytes");
  EXPECT_LE(options.memory->most(), 100'000);
}

TEST(RecordedRequests, JsonAsKServeWritesIt) {
  const RunningServer server;
  const std::string body = R"({
  "id" : "",
  "inputs" : [
    {
      "name" : "input",
      "shape" : [ 1, 2 ],
      "datatype" : "FP64",
      "parameters" : null,
      "data" : [ [ 3.0, -1.0 ] ]
    }
  ],
  "outputs" : [ { "name" : "prediction", "parameters" : null } ]
})";
  const auto reply =
      sent(server, on_the_wire("/v2/models/table/versions/1/infer", body, "Content-Type: application/json\r\n"));
  const auto answer = taken(reply);
  EXPECT_EQ(answer.head["id"], "") << "as it was given";
  EXPECT_EQ(answer.head["outputs"][0]["data"], json({1}));
  EXPECT_EQ(reply.headers.at("Content-Type"), "application/json");
}

}  // namespace
}  // namespace priornet
