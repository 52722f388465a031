#include <priornet/learning/trained_run.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/training.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "learning/base/file_io.h"
#include "learning/base/gpu_modes.h"
#include "learning/base/json_text.h"
#include "learning/training/checkpoint.h"
#include "learning/training/metric_files.h"

namespace priornet {
namespace {

void check_is_run(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw DataError(fmt::format("{}: there is no such folder; it should be the folder of a run", folder.string()));
  if (!std::filesystem::exists(folder / "config.toml"))
    throw DataError(fmt::format("{}: holds no run: there is no config.toml in it", folder.string()));
}

template <class T>
std::vector<T> list_of(const std::string& text, const char* what, const std::filesystem::path& path) {
  try {
    return parse_json(text).get<std::vector<T>>();
  } catch (const nlohmann::json::exception&) {
    throw DataError(fmt::format("{}: its {} should be a list, found {}", path.string(), what, text));
  }
}

std::string hash_of_weights(const Classifier& network) {
  uint64_t hash = 0;
  const auto add = [&](const torch::Tensor& values) {
    const auto bytes = values.detach().to(torch::kCPU).contiguous();
    const auto of_this = content_hash({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
    hash = derive_seed(hash, fmt::format("{:x}", of_this));
  };
  for (const auto& values : network.parameters()) add(values);
  for (const auto& values : network.buffers()) add(values);
  return fmt::format("{:016x}", hash);
}

TrainedRun load_one(const std::filesystem::path& folder, const OpenOptions& options) {
  check_is_run(folder);
  TrainedRun run;
  run.config = read_config(folder / "config.toml");
  const auto path = weights_of_run(folder, options.which);
  const auto file = read_tensor_file(path);
  const auto facts = checkpoint_facts(file);
  run.class_names = list_of<std::string>(facts.class_names, "class_names", path);
  auto model = run.config.model;
  model.input = list_of<int64_t>(facts.input_shape, "input_shape", path);
  model.classes = static_cast<int64_t>(run.class_names.size());
  if (const auto program = read_program(folder); program.defined()) {
    if (!options.allow_torchscript) refuse_torchscript(folder);
    model.program = program;
  }
  const auto network = make_model(model, make_generator(0));
  load_weights(file, *network);
  run.identity = fmt::format("step {} {}", facts.step, hash_of_weights(*network));
  network->to(options.device);
  if (model.input.size() == 3) to_channels_last(*network);  // as it was trained, and faster
  network->eval();
  run.members = {network};
  run.split = read_training_split(folder);
  const bool lacks_scale = run.config.standardise.value_or(false) && !run.split.scale.defined();
  if (lacks_scale) run.split = read_training_split(folder.parent_path());  // of an older ensemble
  if (lacks_scale && !run.split.scale.defined())
    throw DataError(fmt::format("{}: holds no preparation.safetensors, which says how its rows were standardised",
                                folder.string()));
  return run;
}

}  // namespace

torch::Device TrainedRun::device() const { return device_of(*members.at(0)); }

bool TrainedRun::gives_dirichlet() const { return method_info(config.method.name).gives_dirichlet; }

void refuse_torchscript(const std::filesystem::path& path) {
  throw ProgramNotAllowed(
      fmt::format("{}: holds a network that PyTorch scripted or compiled, which is a program: give --allow-torchscript "
                  "(in Python allow_torchscript=True) if you trust the person who made it",
                  path.string()));
}

TrainedRun load_run(const std::filesystem::path& folder, const OpenOptions& options) {
  check_is_run(folder);
  const auto config = read_config(folder / "config.toml");
  if (config.members == 1) return load_one(folder, options);
  TrainedRun ensemble;
  ensemble.config = config;
  ensemble.split = read_training_split(folder);
  std::vector<std::string> identities;
  for (int64_t m = 1; m <= config.members; ++m) {
    const auto path = member_folder(folder, m);
    auto member = load_one(path, options);
    if (m == 1) ensemble.class_names = member.class_names;
    if (member.class_names != ensemble.class_names || member.gives_dirichlet() != ensemble.gives_dirichlet() ||
        (m > 1 && member.members[0]->input_shape() != ensemble.members[0]->input_shape()))
      throw DataError(fmt::format("{}: differs from member-1 in its classes, inputs or method", path.string()));
    ensemble.members.push_back(member.members[0]);
    identities.push_back(member.identity);
  }
  ensemble.identity = fmt::format("{}", fmt::join(identities, ", "));
  return ensemble;
}

int64_t epochs_trained(const std::filesystem::path& folder) {
  const auto members = read_config(folder / "config.toml").members;
  auto fewest = std::numeric_limits<int64_t>::max();
  for (int64_t m = 1; m <= members; ++m) {
    const auto metrics = (members == 1 ? folder : member_folder(folder, m)) / "metrics.jsonl";
    int64_t epochs = 0;
    for (const auto& epoch : epochs_in(metrics)) epochs = std::max(epochs, whole_number_of(epoch, "epoch", 0));
    fewest = std::min(fewest, epochs);
  }
  return fewest;
}

Dataset fit_to_run(const Dataset& set, const TrainedRun& run) {
  const auto& shape = run.members.at(0)->input_shape();
  if (shape.size() == 3) return fit_to(set, {shape[0], shape[1], shape[2]});
  auto rows = with_features(set, run.split.feature_names);
  if (rows.inputs.sizes().slice(1) == torch::IntArrayRef(shape)) return rows;
  throw DataError(fmt::format("{}: the network takes rows of {} numbers, found inputs of shape [{}]", set.name,
                              shape[0], fmt::join(set.inputs.sizes().slice(1), ", ")));
}

void check_finite(const torch::Tensor& logits, const std::string& set) {
  const auto finite = logits.isfinite().all(2).all(0);
  if (finite.all().item<bool>()) return;
  throw DataError(fmt::format("{}: the network's logits for row {} (counted from 0) are not finite", set,
                              finite.logical_not().nonzero()[0].item<int64_t>()));
}

namespace {

using Members = std::vector<std::shared_ptr<Classifier>>;

torch::Tensor said_by(Classifier& network, const torch::Tensor& inputs) {
  return torch::softmax(network.forward(inputs).to(torch::kFloat32), 1);
}

torch::Tensor said_by_all(const Members& members, const torch::Tensor& inputs) {
  auto sum = said_by(*members.at(0), inputs);
  for (size_t m = 1; m < members.size(); ++m) sum = sum + said_by(*members[m], inputs);
  return sum / static_cast<double>(members.size());
}

// Member r modulo M answers row r: as much work as one member.
torch::Tensor said_in_turn(const Members& members, const torch::Tensor& inputs) {
  const auto count = std::min(static_cast<int64_t>(members.size()), inputs.size(0));
  torch::Tensor said;
  for (int64_t m = 0; m < count; ++m) {
    const auto rows = inputs.slice(0, m, inputs.size(0), static_cast<int64_t>(members.size()));
    const auto of_rows = said_by(*members[static_cast<size_t>(m)], rows.contiguous(inputs.suggest_memory_format()));
    if (!said.defined()) said = torch::empty({inputs.size(0), of_rows.size(1)}, of_rows.options());
    said.slice(0, m, inputs.size(0), static_cast<int64_t>(members.size())).copy_(of_rows);
  }
  return said;
}

}  // namespace

void add_teacher(TrainingSets& sets, const TrainConfig& config, const torch::Device& device) {
  if (config.teacher.empty() || sets.teacher) return;
  OpenOptions open(device);
  open.allow_torchscript = true;  // a user who names a run as the teacher trusts it
  const auto run = std::make_shared<TrainedRun>(load_run(config.teacher, open));
  const auto& train = sets.train;
  if (run->class_names != train.class_names)
    throw DataError(fmt::format("{}: has the classes {}, but {} has {}", config.teacher,
                                fmt::join(run->class_names, ", "), train.name, fmt::join(train.class_names, ", ")));
  const auto& shape = run->members.at(0)->input_shape();
  if (train.inputs.sizes().slice(1) != torch::IntArrayRef(shape))
    throw DataError(fmt::format("{}: takes inputs of shape [{}], but those of {} are [{}]", config.teacher,
                                fmt::join(shape, ", "), train.name, fmt::join(train.inputs.sizes().slice(1), ", ")));
  if (!train.has_images() && train.feature_names != run->split.feature_names)
    throw DataError(
        fmt::format("{}: learnt from other columns than those of {}, or in another order", config.teacher, train.name));
  for (const auto& network : run->members) {
    network->eval();
    if (train.has_images()) to_channels_last(*network);
  }
  if (auto& scale = run->split.scale; scale.defined()) {
    scale.mean = scale.mean.to(device);
    scale.deviation = scale.deviation.to(device);
  }
  sets.teacher = [run, bfloat16 = config.precision == Precision::kBFloat16,
                  in_turn = config.teacher_in_turn](const torch::Tensor& inputs) {
    const torch::NoGradGuard no_gradient;
    const Autocast autocast(bfloat16);
    const auto seen = run->split.standardised(inputs);
    return in_turn ? said_in_turn(run->members, seen) : said_by_all(run->members, seen);
  };
}

}  // namespace priornet
