#include "learning/networks/packed_graph.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <dnnl.hpp>
#include <mutex>
#include <unordered_map>

namespace priornet {
namespace {

using dnnl::memory;
using Value = PackedGraph::Value;

// Programs are made for one number of images. A server asks for many numbers: these are kept ready.
constexpr size_t kIdlePrograms = 8;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc plain_layout(const memory::dims& sizes) {
  return {sizes, memory::data_type::f32, memory::format_tag::nchw};
}

memory::desc any_layout(const memory::dims& sizes) { return {sizes, memory::data_type::f32, memory::format_tag::any}; }

memory::desc vector_layout(int64_t size) { return {{size}, memory::data_type::f32, memory::format_tag::a}; }

memory over(const memory::desc& layout, const torch::Tensor& values) { return {layout, cpu(), values.data_ptr()}; }

/// The weights of convolutions in the layouts that programs want.
class PackedWeights {
 public:
  explicit PackedWeights(const std::vector<PackedConvolution>& convolutions) : convolutions_(convolutions) {}

  /// Each is made once.
  memory in(size_t convolution, const memory::desc& layout) {
    const std::lock_guard lock(mutex_);
    for (const auto& [index, packed] : packed_)
      if (index == convolution && packed.get_desc() == layout) return packed;
    const auto& given = convolutions_[convolution].weight;
    const memory::dims sizes(given.sizes().begin(), given.sizes().end());
    auto plain = over({sizes, memory::data_type::f32, memory::format_tag::oihw}, given);
    memory packed(layout, cpu());
    dnnl::stream stream(cpu());
    dnnl::reorder(plain, packed).execute(stream, plain, packed);
    stream.wait();
    packed_.emplace_back(convolution, packed);
    return packed;
  }

 private:
  const std::vector<PackedConvolution>& convolutions_;
  std::mutex mutex_;
  std::vector<std::pair<size_t, memory>> packed_;
};

}  // namespace

/// The graph for one number of images and threads: operations of oneDNN with their memory.
class PackedGraph::Program {
 public:
  Program(const PackedGraph& graph, PackedWeights& weights, const memory::dims& shape)
      : shape_(shape), threads_(threads()), graph_(graph), weights_(weights), stream_(cpu()) {
    const auto values = graph.steps.empty() ? 1 : graph.steps.back().made + 1;
    maps_.resize(values);
    maps_[0] = {plain_layout(shape), kInput};
    last_reader_.assign(values, 0);
    for (size_t i = 0; i < graph.steps.size(); ++i) {
      last_reader_[graph.steps[i].first] = i;
      if (graph.steps[i].second) last_reader_[*graph.steps[i].second] = i;
    }
    operations_.resize(graph.steps.size());
    for (size_t i = 0; i < graph.steps.size(); ++i) {
      if (graph.steps[i].makes_map()) plan(i);
      free_after(i);
    }
    for (auto& buffer : buffers_) buffer.values = torch::empty({buffer.floats}, torch::kFloat32);
    for (auto& operations : operations_)
      for (auto& operation : operations)
        for (const auto& [argument, place] : operation.places)
          operation.arguments.emplace(argument, memory(place.layout, cpu(), address(place.buffer)));
  }

  bool is_for(const memory::dims& shape) const { return shape == shape_ && threads() == threads_; }

  /// As PackedGraph::run().
  torch::Tensor run(const torch::Tensor& inputs, Value last, const Made& made) {
    std::vector<torch::Tensor> tensors(last + 1);
    tensors[0] = inputs;
    const TensorOf tensor = [&](Value value) {
      return tensors[value].defined() ? tensors[value] : tensors[value] = from_map(value);
    };
    made(0, tensor);
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      const auto& step = graph_.steps[i];
      if (step.made > last) continue;
      if (step.makes_map())
        for (auto& operation : operations_[i]) {
          for (const auto& [argument, place] : operation.places)
            if (place.buffer == kInput) operation.arguments.at(argument).set_data_handle(inputs.data_ptr());
          operation.primitive.execute(stream_, operation.arguments);
        }
      else
        tensors[step.made] = step.of_tensors(tensor(step.first), step.second ? tensor(*step.second) : torch::Tensor());
      made(step.made, tensor);
    }
    return tensor(last);
  }

 private:
  static constexpr size_t kInput = ~size_t{0};
  struct Place {
    memory::desc layout;
    size_t buffer = kInput;
  };
  struct Buffer {
    int64_t floats = 0;
    bool is_free = true;
    torch::Tensor values{};
  };
  struct Operation {
    dnnl::primitive primitive;
    std::vector<std::pair<int, Place>> places;  ///< of the maps among its arguments
    std::unordered_map<int, memory> arguments;
  };

  static int threads() { return at::in_parallel_region() ? 1 : at::get_num_threads(); }

  void* address(size_t buffer) const { return buffer == kInput ? nullptr : buffers_[buffer].values.data_ptr(); }

  // The smallest free buffer that is large enough, or a new one.
  Place new_place(const memory::desc& layout) {
    const auto floats = static_cast<int64_t>((layout.get_size() + sizeof(float) - 1) / sizeof(float));
    size_t best = buffers_.size();
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (buffers_[i].is_free && buffers_[i].floats >= floats &&
          (best == buffers_.size() || buffers_[i].floats < buffers_[best].floats))
        best = i;
    if (best == buffers_.size()) buffers_.push_back({floats});
    buffers_[best].is_free = false;
    return {layout, best};
  }

  void free_place(const Place& place) {
    if (place.buffer != kInput) buffers_[place.buffer].is_free = true;
  }

  // Maps that only this step still needed. One that it wrote over belongs to what it made.
  void free_after(size_t i) {
    const auto& step = graph_.steps[i];
    for (const auto value : {step.first, step.second.value_or(step.first)})
      if (maps_[value].buffer != kInput && last_reader_[value] == i && maps_[value].buffer != maps_[step.made].buffer)
        free_place(maps_[value]);
  }

  /// Whether step i may write to the map of a value that it reads.
  bool may_overwrite(Value value, size_t i) const { return maps_[value].buffer != kInput && last_reader_[value] == i; }

  Place copied(size_t i, const Place& from, const memory::desc& layout) {
    const auto to = new_place(layout);
    add(i, dnnl::reorder(dnnl::reorder::primitive_desc(cpu(), from.layout, cpu(), layout)),
        {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    return to;
  }

  void add(size_t i, dnnl::primitive primitive, std::vector<std::pair<int, Place>> places,
           std::unordered_map<int, memory> arguments = {}) {
    operations_[i].push_back({std::move(primitive), std::move(places), std::move(arguments)});
  }

  void plan(size_t i) {
    const auto& step = graph_.steps[i];
    switch (step.kind) {
      case PackedStep::Kind::kConvolution:
        maps_[step.made] = plan_convolution(i);
        break;
      case PackedStep::Kind::kNorm:
        maps_[step.made] = plan_norm(i);
        break;
      case PackedStep::Kind::kPool:
        maps_[step.made] = plan_pool(i);
        break;
      case PackedStep::Kind::kAdd:
        maps_[step.made] = plan_add(i);
        break;
      case PackedStep::Kind::kRectifier:
        maps_[step.made] = plan_elementwise(i, dnnl::algorithm::eltwise_relu, step.number);
        break;
      case PackedStep::Kind::kScale:
        maps_[step.made] = plan_elementwise(i, dnnl::algorithm::eltwise_linear, step.number);
        break;
      case PackedStep::Kind::kTensors:
        break;
    }
  }

  static memory::dims after(const memory::dims& sizes, int64_t channels, int64_t side, LayerWriter::Window window) {
    const auto pixels = [&](int64_t given) { return (given + 2 * window.padding - side) / window.stride + 1; };
    return {sizes[0], channels, pixels(sizes[2]), pixels(sizes[3])};
  }

  Place plan_convolution(size_t i) {
    const auto& step = graph_.steps[i];
    const auto& [weight, bias, window] = graph_.convolutions[step.index];
    const auto from = maps_[step.first];
    const auto made = after(from.layout.dims(), weight.size(0), weight.size(2), window);
    const memory::dims strides(2, window.stride), padding(2, window.padding);
    dnnl::post_ops more;
    if (step.second) more.append_sum();
    if (step.number != kNoActivation)
      more.append_eltwise(1, dnnl::algorithm::eltwise_relu, static_cast<float>(step.number), 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(more);
    const dnnl::convolution_forward::primitive_desc described(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, any_layout(from.layout.dims()),
         any_layout({weight.sizes().begin(), weight.sizes().end()}), vector_layout(weight.size(0)), any_layout(made),
         strides, padding, padding},
        attributes, cpu());
    auto source = from;
    if (described.src_desc() != from.layout) source = copied(i, from, described.src_desc());
    const auto to = step.second ? place_of_sum(i, described.dst_desc()) : new_place(described.dst_desc());
    add(i, dnnl::convolution_forward(described), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}},
        {{DNNL_ARG_WEIGHTS, weights_.in(step.index, described.weights_desc())},
         {DNNL_ARG_BIAS, over(vector_layout(weight.size(0)), bias)}});
    if (source.buffer != from.buffer) free_place(source);
    return to;
  }

  // A convolution adds to what lies where it writes.
  Place place_of_sum(size_t i, const memory::desc& layout) {
    const auto& step = graph_.steps[i];
    const auto added = maps_[*step.second];
    if (added.layout == layout && may_overwrite(*step.second, i) && *step.second != step.first) return added;
    return copied(i, added, layout);
  }

  Place plan_norm(size_t i) {
    const auto& step = graph_.steps[i];
    const auto& norm = graph_.norms[step.index];
    const auto from = maps_[step.first];
    const auto to = may_overwrite(step.first, i) ? from : new_place(from.layout);
    auto flags = dnnl::normalization_flags::use_global_stats | dnnl::normalization_flags::use_scale |
                 dnnl::normalization_flags::use_shift;
    if (step.number == 0.0) flags = flags | dnnl::normalization_flags::fuse_norm_relu;
    const dnnl::batch_normalization_forward::primitive_desc described(
        {dnnl::prop_kind::forward_inference, from.layout, static_cast<float>(norm.epsilon), flags}, cpu());
    const auto one = [&](const torch::Tensor& values) { return over(vector_layout(values.numel()), values); };
    add(i, dnnl::batch_normalization_forward(described), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}},
        {{DNNL_ARG_MEAN, one(norm.mean)},
         {DNNL_ARG_VARIANCE, one(norm.variance)},
         {DNNL_ARG_SCALE, one(norm.weight)},
         {DNNL_ARG_SHIFT, one(norm.bias)}});
    return to;
  }

  Place plan_pool(size_t i) {
    const auto& step = graph_.steps[i];
    const auto from = maps_[step.first];
    const auto sizes = from.layout.dims();
    const memory::dims strides(2, step.window.stride), padding(2, step.window.padding), side(2, step.side);
    const dnnl::pooling_forward::primitive_desc described(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, from.layout,
         any_layout(after(sizes, sizes[1], step.side, step.window)), strides, side, padding, padding},
        cpu());
    const auto to = new_place(described.dst_desc());
    add(i, dnnl::pooling_forward(described), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return to;
  }

  Place plan_elementwise(size_t i, dnnl::algorithm algorithm, double number) {
    const auto& step = graph_.steps[i];
    const auto from = maps_[step.first];
    const auto to = may_overwrite(step.first, i) ? from : new_place(from.layout);
    const dnnl::eltwise_forward::primitive_desc described(
        {dnnl::prop_kind::forward_inference, algorithm, from.layout, static_cast<float>(number), 0}, cpu());
    add(i, dnnl::eltwise_forward(described), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    return to;
  }

  Place plan_add(size_t i) {
    const auto& step = graph_.steps[i];
    const auto first = maps_[step.first], second = maps_[*step.second];
    const auto to = may_overwrite(step.first, i) ? first : new_place(first.layout);
    const dnnl::binary::primitive_desc described(
        {dnnl::algorithm::binary_add, first.layout, second.layout, first.layout}, cpu());
    add(i, dnnl::binary(described), {{DNNL_ARG_SRC_0, first}, {DNNL_ARG_SRC_1, second}, {DNNL_ARG_DST, to}});
    return to;
  }

  torch::Tensor from_map(Value value) {
    const auto& [layout, buffer] = maps_[value];
    const auto sizes = layout.dims();
    const auto result = torch::empty(sizes, torch::kFloat32);
    memory map(layout, cpu(), address(buffer)), plain = over(plain_layout(sizes), result);
    dnnl::reorder(map, plain).execute(stream_, map, plain);
    return result;
  }

  memory::dims shape_;
  int threads_;
  const PackedGraph& graph_;
  PackedWeights& weights_;
  dnnl::stream stream_;
  std::vector<Place> maps_;          ///< of each value that is a map
  std::vector<size_t> last_reader_;  ///< of each value: a step
  std::vector<Buffer> buffers_;
  std::vector<std::vector<Operation>> operations_;  ///< of each step
};

/// Programs that no thread uses.
class PackedGraph::Programs {
 public:
  explicit Programs(const PackedGraph& graph) : graph_(graph), weights_(graph.convolutions) {}

  std::unique_ptr<Program> borrow(const memory::dims& shape) {
    {
      const std::lock_guard lock(mutex_);
      for (auto program = idle_.rbegin(); program != idle_.rend(); ++program)
        if ((*program)->is_for(shape)) {
          auto found = std::move(*program);
          idle_.erase(std::next(program).base());
          return found;
        }
    }
    return std::make_unique<Program>(graph_, weights_, shape);
  }

  void give_back(std::unique_ptr<Program> program) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() == kIdlePrograms) idle_.erase(idle_.begin());
    idle_.push_back(std::move(program));
  }

 private:
  const PackedGraph& graph_;
  PackedWeights weights_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Program>> idle_;  ///< the one used last is the last
};

PackedGraph::PackedGraph() : programs_(std::make_unique<Programs>(*this)) {}
PackedGraph::~PackedGraph() = default;

bool PackedGraph::can_run(const std::vector<int64_t>& input_shape) {
  memory::dims one_input{1};
  one_input.insert(one_input.end(), input_shape.begin(), input_shape.end());
  try {
    programs_->give_back(programs_->borrow(one_input));
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

torch::Tensor PackedGraph::run(const torch::Tensor& inputs, Value last, const Made& made) {
  auto program = programs_->borrow({inputs.sizes().begin(), inputs.sizes().end()});
  auto result = program->run(inputs, last, made);
  programs_->give_back(std::move(program));
  return result;
}

bool can_pack_networks() { return true; }

}  // namespace priornet
