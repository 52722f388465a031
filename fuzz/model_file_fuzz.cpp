#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/thresholds.h>
#include <testing/small_models.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace priornet;

namespace {

using Json = nlohmann::ordered_json;

// A model file in parts, so that its description can be replaced. Like files of other programs it has no hashes, which
// would refuse every change.
class Carrier {
 public:
  Carrier(const ScratchFolder& folder, const ModelFile& model) {
    const auto path = folder.path() / "whole";
    write_model_file(path, model);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    header_ = Json::parse(bytes.substr(sizeof(size), size));
    data_ = bytes.substr(sizeof(size) + size);
    auto& metadata = header_["__metadata__"];
    metadata = {{"priornet_model", metadata.at("priornet_model")}};
  }

  std::string with(std::string_view description) {
    header_["__metadata__"]["model"] = description;
    const auto text = header_.dump(-1, ' ', false, Json::error_handler_t::replace);
    const uint64_t size = text.size();
    return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + text + data_;
  }

 private:
  Json header_;
  std::string data_;
};

ModelFile table_model() {
  auto model = small_table_model();
  model.detectors = small_table_detectors(model, {"knn", "mahalanobis"});
  model.points = small_points({{Verdict::kUnfamiliar, "differential_entropy"}, {Verdict::kAmbiguous, "entropy"}});
  return model;
}

}  // namespace

// The description that a model file holds, beside the tensors of an ensemble or, if the first byte is a line break, of
// thresholds for another program's logits. max_len: 4096
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  static Carrier carriers[] = {{folder, table_model()}, {folder, small_logits_model()}};
  const auto text = text_of(data, size);
  const bool own_logits = text.starts_with('\n');
  return taken_or_refused([&] { read_model_file(folder.file("model", carriers[own_logits].with(text))); });
}
