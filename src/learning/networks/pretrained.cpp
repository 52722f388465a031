#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>

#include <map>
#include <regex>

namespace priornet {
namespace {

// What torchvision calls a tensor of our ResNets: block2_1.shortcut_norm.weight is its layer2.0.downsample.1.weight.
// Empty for a tensor of another network.
std::string torchvision_name(const std::string& ours) {
  static const std::map<std::string, std::string> kParts = {
      {"first", "conv1"}, {"first_norm", "bn1"}, {"second", "conv2"},          {"second_norm", "bn2"},
      {"third", "conv3"}, {"third_norm", "bn3"}, {"shortcut", "downsample.0"}, {"shortcut_norm", "downsample.1"}};
  static const std::map<std::string, std::string> kEnds = {{"conv", "conv1"}, {"conv_norm", "bn1"}, {"logits", "fc"}};
  static const std::regex block(R"(block(\d+)_(\d+)\.(\w+)\.(\w+))");
  static const std::regex end(R"((\w+)\.(\w+))");
  std::smatch found;
  if (std::regex_match(ours, found, block) && kParts.contains(found[3]))
    return fmt::format("layer{}.{}.{}.{}", found[1].str(), std::stoi(found[2]) - 1, kParts.at(found[3]),
                       found[4].str());
  if (std::regex_match(ours, found, end) && kEnds.contains(found[1]))
    return fmt::format("{}.{}", kEnds.at(found[1]), found[2].str());
  return "";
}

class Pretrained {
 public:
  explicit Pretrained(const std::filesystem::path& path) : file_(read_tensor_file(path)) {
    for (const auto& [name, values] : file_.tensors) tensors_.emplace(name, values);
  }

  void load_into(Classifier& network) {
    std::vector<std::pair<torch::Tensor, torch::Tensor>> copies;
    std::vector<std::string> misfits;
    const auto last = network.last_parameters();
    const auto take = [&](const std::string& name, const torch::Tensor& values) {
      const auto* found = find(name);
      if (found != nullptr && found->sizes() == values.sizes()) {
        copies.emplace_back(values, *found);
        return;
      }
      const auto is_this = [&](const torch::Tensor& other) { return other.is_same(values); };
      if (std::any_of(last.begin(), last.end(), is_this)) return;  // another number of classes
      misfits.push_back(found == nullptr
                            ? fmt::format("{} [{}] is not there", name, fmt::join(values.sizes(), ", "))
                            : fmt::format("{} is [{}], should be [{}]", name, fmt::join(found->sizes(), ", "),
                                          fmt::join(values.sizes(), ", ")));
    };
    for (const auto& item : network.named_parameters()) take(item.key(), item.value());
    for (const auto& item : network.named_buffers())
      if (!is_own(item.key())) take(item.key(), item.value());
    if (!misfits.empty())
      throw DataError(fmt::format("{}: does not fit the network: {}{}", file_.path, misfits[0],
                                  misfits.size() == 1 ? "" : fmt::format(", and {} more", misfits.size() - 1)));
    const torch::NoGradGuard no_gradient;
    for (auto& [to, from] : copies) to.copy_(from);
  }

 private:
  // Not learnt: the normalisation of the inputs, which the configuration gives, and a count that only older files lack.
  static bool is_own(const std::string& name) {
    return name.starts_with("scale.") || name.ends_with("num_batches_tracked");
  }

  const torch::Tensor* find(const std::string& name) const {
    for (const auto& known : {name, "network." + name, "member-1.network." + name, torchvision_name(name)})
      if (const auto found = tensors_.find(known); found != tensors_.end()) return &found->second;
    return nullptr;
  }

  TensorFile file_;
  std::map<std::string, torch::Tensor> tensors_;
};

}  // namespace

void load_pretrained(Classifier& network, const std::filesystem::path& weights) {
  Pretrained(weights).load_into(network);
}

}  // namespace priornet
