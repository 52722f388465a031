#include "tool/commands/predict.h"

#include <fmt/format.h>
#include <priornet/deploy/inputs.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/drift.h>
#include <priornet/uncertainty/errors.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "learning/data/csv.h"
#include "tool/base/embedded_files.h"
#include "tool/commands/command.h"
#include "tool/commands/own_logits.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;

const char* title_of(Verdict cause) {
  return cause == Verdict::kAmbiguous ? "data" : cause == Verdict::kUnfamiliar ? "distributional" : "model";
}

std::string place_of(const Input& input) {
  return input.row < 0 ? input.name : fmt::format("{}:{}", input.name, input.row);
}

std::string line(const Json& json) { return json_text(json) + "\n"; }

Json start_of(const Input& input) {
  Json json = {{"input", input.name}};
  if (input.row >= 0) json["row"] = input.row;
  return json;
}

constexpr size_t kWidestClass = 40;  // of the table; the other formats have names in full

}  // namespace

PredictionRows::PredictionRows(const ModelFile& model, std::string format)
    : model_(model), format_(std::move(format)), scores_(score_names(model)) {
  for (const auto& name : model.run.class_names)
    class_width_ = std::max(class_width_, std::min(width_of(name), kWidestClass));
  for (const auto& [cause, measure] : watched_measures(model.run.gives_dirichlet(), model.asks_several()))
    shown_.push_back(
        {title_of(cause), static_cast<size_t>(std::find(scores_.begin(), scores_.end(), measure) - scores_.begin())});
}

std::string PredictionRows::header() const {
  if (format_ == "jsonl") return "";
  if (format_ == "csv") {
    std::string text = "input,row,prediction,probability";
    for (const auto& score : scores_) text += "," + csv_field(score);
    return text + (model_.points ? ",p_value,verdict,verdict_by,error\n" : ",error\n");
  }
  auto text = fmt::format("{:<32}  {:<{}}  {:>11}", "input", "prediction", class_width_, "probability");
  for (const auto& [title, score] : shown_) text += fmt::format("  {:>14}", title);
  return text + (model_.points ? fmt::format("  {:>8}  {:<10}  by\n", "p-value", "verdict") : "\n");
}

std::string PredictionRows::row(const Input& input, const PlainPredictions& answers, int64_t at) const {
  if (format_ == "jsonl") {
    auto json = start_of(input);
    json.update(prediction_json({model_.run.class_names, scores_}, answers, at));
    if (!input.notes.empty()) json["notes"] = input.notes;
    return line(json);
  }
  const auto i = static_cast<size_t>(at);
  const auto& name = model_.run.class_names.at(static_cast<size_t>(answers.prediction[i]));
  const auto probability = answers.probability[i];
  const auto* decision = answers.decisions.empty() ? nullptr : &answers.decisions[i];
  const auto verdict = decision == nullptr ? "" : verdict_name(decision->verdict);
  if (format_ == "csv") {
    auto text = fmt::format("{},{},{},{}", csv_field(input.name), input.row < 0 ? "" : std::to_string(input.row),
                            csv_field(name), probability);
    for (const auto& values : answers.scores) text += fmt::format(",{}", values[i]);
    return text + (decision == nullptr
                       ? ",\n"
                       : fmt::format(",{},{},{},\n", decision->p_value, verdict, csv_field(decision->watch)));
  }
  auto text =
      fmt::format("{:<32}  {:<{}}  {:>11.4f}", place_of(input), cut_to(name, class_width_), class_width_, probability);
  for (const auto& [title, score] : shown_) text += fmt::format("  {:>14.4g}", answers.scores.at(score)[i]);
  if (decision == nullptr) return text + "\n";
  if (decision->watch.empty()) return text + fmt::format("  {:>8.4f}  {}\n", decision->p_value, verdict);
  return text + fmt::format("  {:>8.4f}  {:<10}  {}\n", decision->p_value, verdict, decision->watch);
}

std::string PredictionRows::error(const Input& input) const {
  if (format_ == "jsonl") {
    auto json = start_of(input);
    json["error"] = input.error;
    return line(json);
  }
  if (format_ == "csv")
    return fmt::format("{},{},{}{}\n", csv_field(input.name), input.row < 0 ? "" : std::to_string(input.row),
                       std::string(scores_.size() + (model_.points ? 5 : 2), ','), csv_field(input.error));
  return fmt::format("{:<32}  error: {}\n", place_of(input), input.error);
}

namespace {

struct PredictOptions {
  std::string model;
  std::vector<std::string> inputs;
  LogitsSource logits;
  std::string format;
  std::string out;
  std::string device = "auto";
  bool allow_torchscript = false;
  int64_t batch = 250;
  bool drift = false;
  double drift_rate = 0.01;
};

// Where rows go: standard output, or a file, which appears when all rows are written.
class RowSink {
 public:
  explicit RowSink(const std::string& path) {
    if (path.empty()) return;
    std::error_code not_there;
    const auto kind = std::filesystem::status(path, not_there).type();
    if (kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::not_found) {
      file_.emplace(path);
      return;
    }
    path_ = path;
    device_.reset(std::fopen(path.c_str(), "wb"));
    if (!device_) fail();
  }

  void write(std::string_view text) {
    if (device_) return write_to_device(text);
    if (!file_) return print(text);
    waiting_ += text;
    constexpr size_t kPiece = 1 << 20;
    if (waiting_.size() >= kPiece) send();
  }

  void finish() {
    if (!file_) return;
    send();
    file_->commit();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void send() {
    file_->write(waiting_);
    waiting_.clear();
  }

  void write_to_device(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), device_.get()) != text.size() || std::fflush(device_.get()) != 0)
      fail();
  }

  [[noreturn]] void fail() const {
    throw DataError(path_ + ": cannot be written: " + std::generic_category().message(errno));
  }

  std::optional<AtomicFile> file_;
  std::string waiting_;
  std::unique_ptr<std::FILE, Close> device_;  ///< or a pipe, which no other file can replace
  std::string path_;
};

// Opening it would empty it before it is read, or for good.
void check_out(const PredictOptions& options) {
  auto read = options.inputs;
  read.insert(read.end(), options.logits.files.begin(), options.logits.files.end());
  read.push_back(options.logits.features);
  read.push_back(options.model);
  refuse_to_overwrite(options.out, read);
}

std::string format_for(const PredictOptions& options) {
  if (!options.format.empty()) return options.format;
  check_ending("--out", options.out, {".csv", ".jsonl", ".txt"});
  const auto name = lower_case(options.out);
  return name.ends_with(".csv") ? "csv" : name.ends_with(".jsonl") ? "jsonl" : "table";
}

std::unique_ptr<InputSource> source_of(const std::string& name, const Predictor& predictor) {
  if (name == "-") return stream_inputs(std::cin, "standard input", predictor);
  return open_inputs(name, predictor);
}

// Whether the inputs, in the order they come, stopped looking like the calibration set.
class InputDrift {
 public:
  InputDrift(const PredictOptions& options, const ModelFile& model) {
    if (!options.drift) return;
    if (!model.points)
      throw DataError(fmt::format("{}: was not calibrated: --drift has nothing to compare with", options.model));
    watch_.emplace(*model.points, options.drift_rate);
  }

  /// `answers` are those to the inputs without an error.
  void add(const std::vector<Input>& inputs, const PlainPredictions& answers) {
    if (!watch_) return;
    size_t answer = 0;
    for (const auto& input : inputs) {
      ++inputs_;
      if (!input.error.empty()) continue;
      const bool before = watch_->state().alarmed();
      watch_->add(answers.decisions.at(answer).p_value, answers.prediction.at(answer));
      ++answer;
      if (watch_->state().alarmed() && !before)
        warn(fmt::format(
            "drift: by input {} ({}{}) the inputs had stopped looking like the calibration set; without drift, the "
            "probability of such an alarm is at most {}",
            inputs_, input.name, input.row < 0 ? "" : fmt::format(", row {}", input.row), watch_->rate()));
    }
  }

  void finish() const {
    if (!watch_) return;
    const auto& state = watch_->state();
    note(fmt::format(
        "drift: evidence {:.3g} after {} inputs that could be read, at most {:.3g}; the alarm comes at {:.3g}",
        state.value, state.inputs, state.largest, 1 / watch_->rate()));
  }

 private:
  std::optional<DriftWatch> watch_;
  int64_t inputs_ = 0;  ///< also those that could not be read
};

// The predictions for the inputs without an error. If the network fails on a batch, each input is asked alone, and the
// one at fault gets an error.
PlainPredictions answers_to(std::vector<Input>& waiting, Predictor& predictor) {
  std::vector<torch::Tensor> values;
  for (const auto& input : waiting)
    if (input.error.empty()) values.push_back(input.value);
  if (values.empty()) return {};
  try {
    return plain_predictions(predictor.predict(torch::stack(values)));
  } catch (const DataError&) {
    PlainPredictions answers;
    for (auto& input : waiting) {
      if (!input.error.empty()) continue;
      try {
        answers.append(plain_predictions(predictor.predict(input.value.unsqueeze(0))), 0, 1);
      } catch (const DataError& error) {
        input.error = error.what();
      }
    }
    return answers;
  }
}

// Predicts the gathered inputs, in their order, and empties the list.
int64_t flush(std::vector<Input>& waiting, Predictor& predictor, const PredictionRows& rows, RowSink& sink,
              InputDrift& drift) {
  const auto answers = answers_to(waiting, predictor);
  drift.add(waiting, answers);
  std::string text;
  int64_t at = 0;
  for (const auto& input : waiting) text += input.error.empty() ? rows.row(input, answers, at++) : rows.error(input);
  sink.write(text);
  const auto failed = static_cast<int64_t>(waiting.size()) - at;
  waiting.clear();
  return failed;
}

// No progress bar if the rows themselves show it, or if both go to a file.
class PredictionProgress {
 public:
  explicit PredictionProgress(const PredictOptions& options)
      : sources_(static_cast<double>(options.inputs.size())),
        shows_(!options.out.empty() || (::isatty(STDERR_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 0)) {}

  /// `done` sources were read, the last perhaps in part, and gave this many inputs.
  void report(double done, int64_t inputs) {
    if (!shows_) return;
    constexpr int64_t kParts = 1000;
    shown_.detail(fmt::format("{} inputs", inputs));
    shown_.report("predicting",
                  done >= sources_
                      ? kParts
                      : std::min(kParts - 1, static_cast<int64_t>(static_cast<double>(kParts) * done / sources_)),
                  kParts);
  }

 private:
  double sources_;
  bool shows_;
  TerminalProgress shown_;
};

// How inputs differ from training: the first difference in words, the others counted. Formats for machines list all.
class RowNotes {
 public:
  void add(const Input& input) {
    const auto said_before = input.row == 0 ? 0 : input.table_notes;  // with the table's first row
    if (input.notes.size() == said_before) return;
    ++rows_;
    for (size_t n = said_before; n < input.notes.size() && shown_.size() < kShown; ++n)
      shown_.push_back(fmt::format("{}: {}", place_of(input), input.notes[n]));
  }

  void say() const {
    for (const auto& line : shown_) note(line);
    if (rows_ > static_cast<int64_t>(shown_.size()))
      note(fmt::format("{} rows held values that differ from training; --format jsonl says which", rows_));
  }

 private:
  static constexpr size_t kShown = 5;
  int64_t rows_ = 0;
  std::vector<std::string> shown_;
};

// Verdicts on logits that another program computed; the model may have a network or none.
void run_logits(const PredictOptions& options, const std::string& format) {
  OpenOptions open(torch::kCPU);
  open.allow_torchscript = options.allow_torchscript;
  const auto model = open_model(model_path(options.model), open);
  auto source = options.logits;
  source.kind = kind_of(model);
  source.takes_any_value = true;  // a row that holds one gets an error
  const auto outputs = own_outputs(source);
  const auto of_row = outputs.logits.dim() == 3 ? outputs.logits.transpose(0, 1) : outputs.logits;
  const auto good = of_row.reshape({outputs.rows(), -1}).isfinite().all(1);
  const auto chosen = good.nonzero().squeeze(1);
  const auto answers =
      chosen.numel() == 0 ? PlainPredictions() : plain_predictions(judged(model, outputs.select(chosen)));
  InputDrift drift(options, model);
  std::vector<Input> inputs(static_cast<size_t>(outputs.rows()));
  const auto* is_good = good.data_ptr<bool>();
  for (size_t row = 0; row < inputs.size(); ++row) {
    inputs[row].name = outputs.name;
    inputs[row].row = static_cast<int64_t>(row);
    if (!is_good[row]) inputs[row].error = "its logits are not finite";
  }
  drift.add(inputs, answers);
  const PredictionRows rows(model, format);
  RowSink sink(options.out);
  sink.write(rows.header());
  int64_t answer = 0;
  for (const auto& input : inputs)
    sink.write(input.error.empty() ? rows.row(input, answers, answer++) : rows.error(input));
  sink.finish();
  drift.finish();
  if (!options.out.empty()) note(fmt::format("{} predictions written to {}", answers.rows, options.out));
  if (answers.rows < outputs.rows())
    throw DataError(
        fmt::format("{} of {} inputs have logits that are not finite", outputs.rows() - answers.rows, outputs.rows()));
}

void run(const PredictOptions& options) {
  check_out(options);
  if (options.inputs.empty() == options.logits.files.empty())
    throw Misuse("give INPUTs, or --logits of your own network");
  const auto format = format_for(options);
  if (!options.logits.files.empty()) return run_logits(options, format);
  OpenOptions open(chosen_device(options.device));
  open.allow_torchscript = options.allow_torchscript;
  Predictor predictor(open_model(model_path(options.model), open));
  InputDrift drift(options, predictor.model());
  const PredictionRows rows(predictor.model(), format);
  RowSink sink(options.out);
  sink.write(rows.header());
  // An unfinished file has to be removed. Otherwise Ctrl-C ends the process at once, also while it waits for input.
  std::optional<StopSignal> signal;
  if (!options.out.empty()) signal.emplace();
  PredictionProgress progress(options);
  std::vector<Input> waiting;
  int64_t count = 0;
  int64_t failed = 0;
  RowNotes notes;
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    const auto source = source_of(options.inputs[i], predictor);
    while (auto input = source->next()) {
      if (signal && signal->caught()) throw Stopped();
      ++count;
      notes.add(*input);
      waiting.push_back(std::move(*input));
      if (static_cast<int64_t>(waiting.size()) < options.batch) continue;
      failed += flush(waiting, predictor, rows, sink, drift);
      progress.report(static_cast<double>(i) + source->share(), count);
    }
  }
  failed += flush(waiting, predictor, rows, sink, drift);
  progress.report(static_cast<double>(options.inputs.size()), count);
  sink.finish();
  drift.finish();
  notes.say();
  if (!options.out.empty()) note(fmt::format("{} predictions written to {}", count - failed, options.out));
  if (failed > 0) throw DataError(fmt::format("{} of {} inputs could not be read", failed, count));
}

}  // namespace

void describe_predict(Command& command) {
  const auto options = std::make_shared<PredictOptions>();
  command.options = {
      {.name = "MODEL",
       .to = &options->model,
       .help = "A model file; a run's folder (no verdicts); or digits: (the digit model that comes with priornet)",
       .required = true,
       .exists = Exists::kModel},
      {.name = "INPUT",
       .to = &options->inputs,
       .help =
           "Images, folders of images, .csv, .tsv (also .gz), .npy; - is standard input (a table, .npy or one image)"},
      {.name = "--format",
       .to = &options->format,
       .help = "table, csv or jsonl; by default what --out ends with, or a table",
       .choices = {"table", "csv", "jsonl"}},
      {.name = "--out",
       .to = &options->out,
       .help = "Write to this file instead of standard output: .csv, .jsonl or .txt (a table)"},
      {.name = "--batch",
       .to = &options->batch,
       .help = "Inputs per pass",
       .shows_default = true,
       .range = whole_range(1, 1'000'000)},
      {.name = "--drift",
       .to = &options->drift,
       .help = "Say when the inputs, in their order, stop looking like the calibration set",
       .older_name = "--watch"},
      {.name = "--drift-rate",
       .to = &options->drift_rate,
       .help = "Probability that this alarm ever comes without drift",
       .shows_default = true,
       .range = real_range(1e-9, 0.5),
       .needs = "--drift"},
      device_option(options->device, "Where to compute"),
      torchscript_option(options->allow_torchscript)};
  for (auto& option : unlabelled_logits_options(options->logits, "Instead of INPUT"))
    command.options.push_back(std::move(option));
  command.notes =
      "An input that cannot be read gives a row with its error. The other inputs are answered, and the exit status is "
      "1\n"
      "(docs/deploy.md).";
  command.examples = {"priornet predict digits: drawing.png", "priornet predict photos.priornet new/ one.jpg",
                      "priornet predict mine.priornet --logits new.npy",
                      "curl -s URL | priornet predict photos.priornet - --format jsonl"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
