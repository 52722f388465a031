#include "learning/networks/layers.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <torch/nn/init.h>
#if defined(PRIORNET_CUDA)
#include "learning/networks/fused_convolution.h"
#endif

#include <array>
#include <cmath>

#include "uncertainty/core/checks.h"

namespace priornet {

torch::Tensor activated(torch::Tensor values, double slope) {
  if (slope == 1.0) return values;
  return slope == 0.0 ? torch::relu_(values) : torch::leaky_relu_(values, slope);
}

torch::Tensor convolved(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
#if defined(PRIORNET_CUDA)
  if (convolution->bias.defined() && fused::follows(inputs, convolution))
    return fused::biased(inputs, convolution, slope);
  if (inputs.is_cuda() && !convolution->bias.defined()) return activated(fused::convolved(inputs, convolution), slope);
#endif
  return activated(convolution->forward(inputs), slope);
}

torch::Tensor convolved_and_pooled(const torch::Tensor& inputs, torch::nn::Conv2d& convolution, double slope) {
#if defined(PRIORNET_CUDA)
  if (convolution->bias.defined() && fused::follows(inputs, convolution) && fused::can_pool(inputs))
    return fused::biased_and_pooled(inputs, convolution, slope);
#endif
  return torch::max_pool2d(convolved(inputs, convolution, slope), 2);
}

torch::Tensor normed(const torch::Tensor& values, torch::nn::BatchNorm2d& norm, double slope,
                     const torch::Tensor& residual) {
#if defined(PRIORNET_CUDA)
  if (fused::takes(values) && (!residual.defined() || fused::takes(residual))) {
    if (norm->is_training()) return fused::normed(values, norm, slope, residual);
    if (!torch::GradMode::is_enabled()) return fused::normed_by_running(values, norm, slope, residual);
  }
#endif
  const auto result = norm->forward(values);
  return activated(residual.defined() ? result + residual : result, slope);
}

torch::Tensor convolved_and_normed(const torch::Tensor& inputs, torch::nn::Conv2d& convolution,
                                   torch::nn::BatchNorm2d& norm, double slope, const torch::Tensor& residual) {
#if defined(PRIORNET_CUDA)
  if (inputs.is_cuda() && !convolution->bias.defined())
    return normed(fused::convolved(inputs, convolution), norm, slope, residual);
#endif
  return normed(convolution->forward(inputs), norm, slope, residual);
}

std::pair<torch::Tensor, torch::Tensor> forked(const torch::Tensor& values) {
#if defined(PRIORNET_CUDA)
  if (values.is_cuda()) return fused::forked(values);
#endif
  return {values, values};
}

namespace {

namespace nn = torch::nn;

constexpr std::array kInnerNames = {"first", "second", "third"};

void check_size(const char* where, const char* what, int64_t size) {
  check_range(where, what, size >= 1, "at least 1", static_cast<double>(size));
}

int64_t windowed(const char* where, int64_t size, int64_t side, LayerWriter::Window window) {
  const auto room = size + 2 * window.padding - side;
  check_range(where, "the image", room >= 0, fmt::format("at least {} pixels wide and high", side - 2 * window.padding),
              static_cast<double>(size));
  return room / window.stride + 1;
}

}  // namespace

void initialise_normal(torch::Tensor weight, double gain, at::Generator generator) {
  const torch::NoGradGuard no_gradient;
  const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
  weight.normal_(0.0, std::sqrt(gain / fan_in), std::move(generator));
}

int64_t size_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw ArgumentError(fmt::format("network: a layer of {} x {} values is too large", a, b));
  return product;
}

void check_image(const char* network, const std::vector<int64_t>& input) {
  if (input.size() != 3)
    throw ArgumentError(
        fmt::format("{}: input should be [channels, height, width], found {} sizes", network, input.size()));
}

void check_groups(const char* network, const std::vector<int64_t>& channels) {
  check_range(network, "channels", !channels.empty(), "at least one group", 0);
  for (const auto count : channels)
    check_range(network, "channels", count >= 1, "at least 1", static_cast<double>(count));
}

void check_keep(const char* network, const char* option, double keep) {
  check_range(network, option, keep > 0.0 && keep <= 1.0, "in (0, 1]", keep);
}

std::string ScaleLayer::label() const { return fmt::format("times {:g}", factor_); }

LayerWriter::Value ScaleLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  return writer.scale(x, factor_);
}

Layer::Shape NormaliseLayer::output_shape(const Shape& input) const {
  check_image("normalise", input);
  check_range("normalise", "channels", static_cast<size_t>(input[0]) == mean_.size(), "as many as means and deviations",
              static_cast<double>(input[0]));
  return input;
}

void NormaliseLayer::make_weights(const at::Generator&) {
  numbers_ = std::make_shared<torch::nn::Module>("normalise");
  const auto mean = 2.0 * torch::tensor(mean_, torch::kFloat64) - 1.0;
  const auto deviation = 2.0 * torch::tensor(deviation_, torch::kFloat64);
  numbers_->register_buffer("weight", torch::ones({mean.size(0)}));
  numbers_->register_buffer("bias", torch::zeros({mean.size(0)}));
  numbers_->register_buffer("mean", mean.to(torch::kFloat32));
  numbers_->register_buffer("variance", deviation.square().to(torch::kFloat32));
}

torch::Tensor NormaliseLayer::forward(const torch::Tensor& x) {
  const auto numbers = numbers_->named_buffers(false);
  const auto per_channel = [&](const char* name) { return numbers[name].view({-1, 1, 1}); };
  return (x - per_channel("mean")) / per_channel("variance").sqrt();
}

LayerWriter::Value NormaliseLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  const auto numbers = numbers_->named_buffers(false);
  return writer.batch_norm(x, {numbers["weight"], numbers["bias"], numbers["mean"], numbers["variance"], 0.0});
}

Layer::Shape FlattenLayer::output_shape(const Shape& input) const {
  int64_t values = 1;
  for (const auto size : input) values = size_product(values, size);
  return {values};
}

std::string MaxPoolLayer::label() const { return fmt::format("max pool {0}x{0}", side_); }

Layer::Shape MaxPoolLayer::output_shape(const Shape& input) const {
  check_image("max pool", input);
  return {input[0], windowed("max pool", input[1], side_, window_), windowed("max pool", input[2], side_, window_)};
}

torch::Tensor MaxPoolLayer::forward(const torch::Tensor& x) {
  return torch::max_pool2d(x, side_, window_.stride, window_.padding);
}

LayerWriter::Value MaxPoolLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  return writer.max_pool(x, side_, window_);
}

std::string DropoutLayer::label() const { return fmt::format("keep {:g}", keep_); }

LayerWriter::Value DropoutLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  return writer.dropout(x, keep_);
}

std::string DenseLayer::label() const { return fmt::format("{}, {}", options_.name, options_.units); }

Layer::Shape DenseLayer::output_shape(const Shape& input) const {
  check_size("dense layer", "units", options_.units);
  if (input != Shape{options_.inputs})
    throw ArgumentError(fmt::format("dense layer: needs {} numbers per input", options_.inputs));
  return {options_.units};
}

Layer::Size DenseLayer::size(const Shape&) const {
  const auto units = static_cast<double>(options_.units);
  const auto weights = units * static_cast<double>(options_.inputs);
  return {weights + units, weights};
}

void DenseLayer::make_weights(const at::Generator& generator) {
  linear_ = nn::Linear(options_.inputs, options_.units);
  if (options_.gain) {
    initialise_normal(linear_->weight, *options_.gain, generator);
    nn::init::zeros_(linear_->bias);
    return;
  }
  const torch::NoGradGuard no_gradient;
  const double bound = 1.0 / std::sqrt(static_cast<double>(options_.inputs));
  linear_->weight.uniform_(-bound, bound, generator);
  linear_->bias.uniform_(-bound, bound, generator);
}

torch::Tensor DenseLayer::forward(const torch::Tensor& x) { return activated(linear_->forward(x), options_.slope); }

LayerWriter::Value DenseLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  return writer.rectifier(writer.dense(x, linear_->weight, linear_->bias), options_.slope);
}

EvidenceLayer::EvidenceLayer(std::shared_ptr<Layer> inner, double prior)
    : inner_(std::move(inner)), prior_(prior), least_(std::log(prior)) {
  check_range("network", "prior", prior > 0.0, "above 0", prior);
}

std::string EvidenceLayer::label() const { return fmt::format("{}, evidence above {:g}", inner_->label(), prior_); }

torch::Tensor EvidenceLayer::forward(const torch::Tensor& x) {
  const auto values = inner_->forward(x);
  // bfloat16 would round little evidence to none.
  const bool half = values.scalar_type() == torch::kBFloat16 || values.scalar_type() == torch::kHalf;
  return at::softplus((half ? values.to(torch::kFloat32) : values) - least_, 1, 40) + least_;
}

LayerWriter::Value EvidenceLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  return writer.smooth_at_least(inner_->write(writer, x), least_);
}

std::shared_ptr<Layer> logits_layer(const NetworkPlan& plan) {
  DenseOptions options;
  options.inputs = plan.shape().at(0);
  options.units = plan.classes();
  options.gain = kLastGain;
  options.name = "logits";
  return std::make_shared<DenseLayer>(options);
}

void add_pooled_logits(NetworkPlan& plan, double keep) {
  plan.add("", std::make_shared<ImageMeanLayer>());
  if (keep < 1.0) plan.add("dropout", std::make_shared<DropoutLayer>(keep));
  plan.add("logits", logits_layer(plan));
}

std::string ConvolutionLayer::label() const {
  return fmt::format("conv {0}x{0}, {1}{2}{3}", options_.side, options_.norm ? "batch norm, " : "", options_.to,
                     options_.pooled ? ", max pool 2x2" : "");
}

Layer::Shape ConvolutionLayer::convolved_shape(const Shape& input) const {
  check_image("convolution", input);
  check_size("convolution", "channels", options_.to);
  if (input[0] != options_.from)
    throw ArgumentError(fmt::format("convolution: needs {} channels, found {}", options_.from, input[0]));
  const LayerWriter::Window window{options_.stride, options_.side / 2};
  return {options_.to, windowed("convolution", input[1], options_.side, window),
          windowed("convolution", input[2], options_.side, window)};
}

Layer::Shape ConvolutionLayer::output_shape(const Shape& input) const {
  auto shape = convolved_shape(input);
  if (!options_.pooled) return shape;
  for (const size_t axis : {1, 2}) shape[axis] = windowed("max pool", shape[axis], 2, {2, 0});
  return shape;
}

Layer::Size ConvolutionLayer::size(const Shape& input) const {
  const auto shape = output_shape(input);
  const auto to = static_cast<double>(options_.to);
  const auto weights = to * static_cast<double>(options_.from) * static_cast<double>(options_.side * options_.side);
  // Pooling takes squares; rows and columns that do not fill one do not count.
  const auto pixels = static_cast<double>(shape[1]) * static_cast<double>(shape[2]) * (options_.pooled ? 4.0 : 1.0);
  return {weights + (options_.norm ? 2.0 * to : options_.bias ? to : 0.0), weights * pixels};
}

void ConvolutionLayer::make_weights(const at::Generator& generator) {
  const auto bias = options_.bias && !options_.norm;
  convolution_ = nn::Conv2d(nn::Conv2dOptions(options_.from, options_.to, options_.side)
                                .padding(options_.side / 2)
                                .stride(options_.stride)
                                .bias(bias));
  initialise_normal(convolution_->weight, options_.gain, generator);
  if (bias) nn::init::zeros_(convolution_->bias);
  if (options_.norm) norm_ = nn::BatchNorm2d(options_.to);
}

Layer::Modules ConvolutionLayer::modules() const {
  Modules modules = {{"", convolution_.ptr()}};
  if (norm_) modules.emplace_back("_norm", norm_.ptr());
  return modules;
}

torch::Tensor ConvolutionLayer::forward_with(const torch::Tensor& x, const torch::Tensor& residual) {
  const auto slope = options_.slope;
  if (!norm_) return options_.pooled ? convolved_and_pooled(x, convolution_, slope) : convolved(x, convolution_, slope);
  const auto values = convolved_and_normed(x, convolution_, norm_, slope, residual);
  return options_.pooled ? torch::max_pool2d(values, 2) : values;
}

LayerWriter::Value ConvolutionLayer::write_before_activation(LayerWriter& writer, LayerWriter::Value x) const {
  const auto values =
      writer.convolution(x, convolution_->weight, convolution_->bias, {options_.stride, options_.side / 2});
  return norm_ ? writer.batch_norm(values, written(norm_)) : values;
}

LayerWriter::Value ConvolutionLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  const auto values = writer.rectifier(write_before_activation(writer, x), options_.slope);
  return options_.pooled ? writer.max_pool(values, 2, {2, 0}) : values;
}

LayerWriter::BatchNorm written(const nn::BatchNorm2d& norm) {
  return {norm->weight, norm->bias, norm->running_mean, norm->running_var, norm->options.eps()};
}

ResidualLayer::ResidualLayer(const std::vector<ConvolutionOptions>& inner,
                             const std::optional<ConvolutionOptions>& shortcut) {
  check_range("residual block", "convolutions", !inner.empty() && inner.size() <= kInnerNames.size(), "1 to 3",
              static_cast<double>(inner.size()));
  for (const auto& options : inner) inner_.emplace_back(options);
  if (shortcut) shortcut_.emplace(*shortcut);
}

std::string ResidualLayer::label() const {
  int64_t stride = 1;
  for (const auto& layer : inner_) stride *= layer.options().stride;
  return fmt::format("residual block, {}{}", inner_.back().options().to, stride == 2 ? ", halved" : "");
}

Layer::Shape ResidualLayer::output_shape(const Shape& input) const {
  auto shape = input;
  for (const auto& layer : inner_) shape = layer.output_shape(shape);
  return shape;
}

Layer::Size ResidualLayer::size(const Shape& input) const {
  Size sum;
  const auto add = [&](const ConvolutionLayer& layer, const Shape& shape) {
    const auto size = layer.size(shape);
    sum.parameters += size.parameters;
    sum.multiply_adds += size.multiply_adds;
  };
  auto shape = input;
  for (const auto& layer : inner_) {
    add(layer, shape);
    shape = layer.output_shape(shape);
  }
  if (shortcut_) add(*shortcut_, input);
  return sum;
}

void ResidualLayer::make_weights(const at::Generator& generator) {
  block_ = std::make_shared<nn::Module>();
  const auto make = [&](ConvolutionLayer& layer, const std::string& name) {
    layer.make_weights(generator);
    for (const auto& [suffix, module] : layer.modules()) block_->register_module(name + suffix, module);
  };
  for (size_t i = 0; i < inner_.size(); ++i) make(inner_[i], kInnerNames[i]);
  if (shortcut_) make(*shortcut_, "shortcut");
}

torch::Tensor ResidualLayer::forward(const torch::Tensor& x) {
  auto [values, around] = forked(x);
  for (size_t i = 0; i + 1 < inner_.size(); ++i) values = inner_[i].forward(values);
  return inner_.back().forward_with(values, shortcut_ ? shortcut_->forward(around) : around);
}

LayerWriter::Value ResidualLayer::write(LayerWriter& writer, LayerWriter::Value x) const {
  auto values = x;
  for (size_t i = 0; i + 1 < inner_.size(); ++i) values = inner_[i].write(writer, values);
  values = inner_.back().write_before_activation(writer, values);
  const auto around = shortcut_ ? shortcut_->write(writer, x) : x;
  return writer.rectifier(writer.add(values, around), inner_.back().options().slope);
}

}  // namespace priornet
