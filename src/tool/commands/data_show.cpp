#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/images.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/errors.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "tool/audit/set_comparison.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/image_sheets.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;

struct ShowOptions {
  std::string name;
  std::string root;
  std::string out;
  bool json = false;
};

constexpr int64_t kMostClasses = 40;  // one line each; with more, only a summary
constexpr size_t kMostColumns = 40;

std::string shape_of(const Dataset& set) {
  if (set.encoding)
    return fmt::format("{} that become{} {}", count_of(static_cast<int64_t>(set.encoding->columns.size()), "column"),
                       set.encoding->columns.size() == 1 ? "s" : "", count_of(set.inputs.size(1), "number"));
  if (!set.has_images()) return fmt::format("{} per row", count_of(set.inputs.size(1), "number"));
  return fmt::format("{}x{} pixels, {}", set.inputs.size(2), set.inputs.size(3),
                     set.inputs.size(1) == 1   ? "grey"
                     : set.inputs.size(1) == 3 ? "RGB"
                                               : fmt::format("{} channels", set.inputs.size(1)));
}

std::string channel_name(const Dataset& set, size_t channel) {
  if (!set.has_images()) return set.feature_names.empty() ? fmt::format("{}", channel) : set.feature_names[channel];
  if (set.inputs.size(1) != 3) return set.inputs.size(1) == 1 ? "grey" : fmt::format("{}", channel);
  return std::array{"red", "green", "blue"}[channel];
}

// Images count from 0 to 1, as the means of data sets are usually published.
double unit_of(const Dataset& set) { return set.has_images() ? 255 : 1; }

std::string channels_as_text(const Dataset& set, const std::vector<ChannelStatistics>& statistics) {
  Table table;
  table.columns = {set.has_images() ? "channel" : "column", "mean", "standard deviation", "minimum", "maximum"};
  const double unit = unit_of(set);
  for (size_t c = 0; c < statistics.size() && c < kMostColumns; ++c) {
    const auto& s = statistics[c];
    table.add({channel_name(set, c), Cell::number(s.mean / unit, 4), Cell::number(s.standard_deviation / unit, 4),
               Cell::number(s.minimum / unit, 4), Cell::number(s.maximum / unit, 4)});
  }
  auto text = to_text(table);
  if (set.has_images()) text += "grey levels from 0 to 1\n";
  if (statistics.size() > kMostColumns) text += fmt::format("and {} more columns\n", statistics.size() - kMostColumns);
  return text;
}

// The columns of the file, before they became numbers.
std::string columns_as_text(const Dataset& set) {
  Table table;
  table.columns = {"column", "type", "missing", "numbers", "what it holds"};
  const auto& columns = set.encoding->columns;
  for (size_t c = 0; c < std::min(columns.size(), kMostColumns); ++c) {
    const auto& column = columns[c];
    table.add(
        {set.encoding->shown_name(c), Cell(std::string(kColumnTypeNames[static_cast<size_t>(column.type)])),
         Cell(fmt::format("{:.3g} %", 100.0 * static_cast<double>(column.missing) / static_cast<double>(set.size()))),
         Cell(fmt::format("{}", column.features())), column.summary});
  }
  auto text = to_text(table);
  if (columns.size() > kMostColumns) text += fmt::format("and {} more columns\n", columns.size() - kMostColumns);
  return text +
         "To change a type, add ,drop=COLUMN ,categorical=COLUMN or ,numeric=COLUMN to the name; several columns as "
         "A|B\n";
}

std::string classes_as_text(const Dataset& set) {
  if (!set.has_labels()) return "no labels\n";
  const auto counts = class_counts(set);
  const auto* count = counts.data_ptr<int64_t>();
  const auto [least, most] = std::minmax_element(count, count + set.num_classes());
  auto text = *least == *most ? fmt::format("{} with {}{}\n", count_of(set.num_classes(), "class"),
                                            count_of(*least, "row"), set.num_classes() == 1 ? "" : " each")
                              : fmt::format("{} classes with {} to {} rows each\n", set.num_classes(), *least, *most);
  if (set.num_classes() > kMostClasses) return text;
  constexpr int64_t kBar = 40;
  size_t width = 0;
  for (const auto& name : set.class_names) width = std::max(width, name.size());
  for (int64_t c = 0; c < set.num_classes(); ++c)
    text += fmt::format("  {:<{}}  {:>7}  {}\n", set.class_names[static_cast<size_t>(c)], width, count[c],
                        std::string(static_cast<size_t>(kBar * count[c] / std::max<int64_t>(*most, 1)), '#'));
  return text;
}

std::string as_text(const Dataset& set, const std::string& sheet) {
  return fmt::format("{}: {}, {}\n\n{}\n{}{}", set.name, count_of(set.size(), "row"), shape_of(set),
                     set.encoding ? columns_as_text(set) : channels_as_text(set, channel_statistics(set)),
                     classes_as_text(set), sheet.empty() ? "" : fmt::format("\nContact sheet: {}\n", sheet));
}

std::string as_json(const Dataset& set, const std::string& sheet) {
  Json json = {{"name", set.name}, {"rows", set.size()}, {"shape", set.inputs.sizes().slice(1).vec()}};
  const auto statistics = channel_statistics(set);
  const double unit = unit_of(set);
  for (size_t c = 0; c < statistics.size(); ++c)
    json["channels"].push_back({{"name", channel_name(set, c)},
                                {"mean", statistics[c].mean / unit},
                                {"standard_deviation", statistics[c].standard_deviation / unit},
                                {"minimum", statistics[c].minimum / unit},
                                {"maximum", statistics[c].maximum / unit}});
  if (set.encoding)
    for (const auto& column : set.encoding->columns)
      json["columns"].push_back({{"name", column.name},
                                 {"type", kColumnTypeNames[static_cast<size_t>(column.type)]},
                                 {"missing", column.missing},
                                 {"numbers", column.features()},
                                 {"holds", column.summary}});
  json["classes"] = nullptr;
  if (set.has_labels()) {
    json["classes"] = Json::array();
    const auto counts = class_counts(set);
    for (int64_t c = 0; c < set.num_classes(); ++c)
      json["classes"].push_back(
          {{"name", set.class_names[static_cast<size_t>(c)]}, {"count", counts[c].item<int64_t>()}});
  }
  json["sheet"] = sheet.empty() ? Json(nullptr) : Json(sheet);
  return json_text(json, 2) + "\n";
}

// One row per class if there are few; else images from all over the set.
void write_sheet(const std::filesystem::path& file, const Dataset& set) {
  constexpr int64_t kMostRows = 20;
  constexpr int64_t kImages = 100;
  ContactSheetOptions options;
  auto images = set.inputs;
  if (images.size(1) != 1 && images.size(1) != 3) images = images.narrow(1, 0, 1);
  if (set.has_labels() && set.num_classes() <= kMostRows) {
    options.labels = set.labels;
    options.rows = set.num_classes();
  } else if (set.size() > kImages) {
    images = images.index_select(0, (torch::arange(kImages, torch::kInt64) * set.size()).div(kImages, "floor"));
  }
  write_contact_sheet(file, images, options);
}

// As training will warn, which leaves a list of all of them.
void warn_of_faults(const std::vector<LeftOut>& left_out) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> faults;
  for (const auto& one : left_out)
    if (one.kind == LeftOut::Kind::kFault) faults.push_back(fmt::format("{} ({})", one.path, one.why));
  if (faults.empty()) return;
  const auto named = std::min(faults.size(), kNamed);
  warn(fmt::format("{} cannot be used and {} left out: {}{}", count_of(static_cast<int64_t>(faults.size()), "image"),
                   faults.size() == 1 ? "is" : "are",
                   fmt::join(faults.begin(), faults.begin() + static_cast<std::ptrdiff_t>(named), "; "),
                   named < faults.size() ? fmt::format(" and {} more", faults.size() - named) : ""));
}

void run(const ShowOptions& options) {
  const auto name = parse_set_name(options.name);
  TerminalProgress progress;
  LoadOptions load{options.root.empty() ? data_root() : std::filesystem::path(options.root), true, &progress};
  std::vector<std::string> notes;
  load.notes = &notes;
  SetFiles files;
  std::error_code not_there;
  if (name.is_path && std::filesystem::is_directory(name.set, not_there)) load.files = &files;
  const auto set = load_set(name, load);
  for (const auto& line : notes) note(line);
  warn_of_faults(files.left_out);
  if (!options.out.empty()) {
    if (!set.has_images())
      throw DataError(fmt::format("{}: holds rows of numbers; --out can draw images only", set.name));
    write_sheet(options.out, set);
  }
  print(options.json ? as_json(set, options.out) : as_text(set, options.out));
}

}  // namespace

void describe_data_show(Command& command) {
  const auto options = std::make_shared<ShowOptions>();
  command.options = {
      {.name = "set",
       .to = &options->name,
       .help = "SET[:SPLIT][,MODIFIER...]: a name from the catalogue, or a path",
       .required = true},
      {.name = "--out",
       .to = &options->out,
       .help = "Also write a picture with some of its images, a contact sheet, to this .png file",
       .endings = {".png"}},
      {.name = "--root", .to = &options->root, .help = "The data root; by default PRIORNET_DATA or its defaults"},
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "Modifiers, applied in the order given: invert, grey, rgb, size=N or size=HxW, pad=N, subset=N, first=N, "
      "last=N,\n"
      "repeat=N, classes=A|B, without=SET; settings: resample=nearest|bilinear|bicubic, antialias=on|off,\n"
      "grid=centres|corners, seed=N; for tables: label=COLUMN, drop=A|B, categorical=A|B, numeric=A|B.\n"
      "A text with a / or a . in it is a path: a folder of class folders or of images, an archive of them, .csv, "
      ".tsv,\n"
      ".npy, .npz, .mat, an IDX file.";
  command.examples = {"priornet data show omniglot:evaluation,invert,size=28 --out omniglot.png"};
  command.run = [options](const Invocation&) { run(*options); };
}

namespace {

namespace fs = std::filesystem;

struct SetExportOptions {
  std::string set;
  std::string folder;
  std::string root;
};

// One folder per class, named like it: characters with a meaning to a file system become dashes, and a name that
// another class has already gets a number.
std::vector<std::string> class_folders(const std::vector<std::string>& classes) {
  std::vector<std::string> folders;
  for (auto name : classes) {
    for (auto& c : name)
      if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '-';
    if (name.empty() || name[0] == '.') name = "_" + name;
    const auto is_taken = [&](const std::string& folder) {
      return std::find(folders.begin(), folders.end(), folder) != folders.end();
    };
    auto folder = name;
    for (int number = 2; is_taken(folder); ++number) folder = fmt::format("{}-{}", name, number);
    folders.push_back(folder);
  }
  return folders;
}

// Not AtomicFile: tens of thousands of images would wait for the disk one by one.
void write_image(const fs::path& path, const torch::Tensor& image) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const auto bytes = encode_png(image);
  std::FILE* file = error ? nullptr : std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (!written && !error) error.assign(errno, std::generic_category());
  written = (file == nullptr || std::fclose(file) == 0) && written;
  if (written) return;
  if (!error) error.assign(errno, std::generic_category());
  if (file != nullptr) ::unlink(path.c_str());  // part of an image is not an image
  throw DataError(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
}

void run(const SetExportOptions& options) {
  StoppableProgress progress;
  LoadOptions load{options.root.empty() ? data_root() : fs::path(options.root), true, &progress};
  const auto set = load_set(options.set, load);
  if (!set.has_images()) throw DataError(fmt::format("{}: should hold images, holds rows of numbers", set.name));
  if (fs::exists(options.folder) && !fs::is_empty(options.folder))
    throw DataError(fmt::format("{}: exists already and is not empty", options.folder));
  const auto width = std::to_string(set.size()).size();
  const auto folders = class_folders(set.class_names);
  for (int64_t i = 0; i < set.size(); ++i) {
    if (i % 1000 == 0) progress.report("writing images", i, set.size());
    auto folder = fs::path(options.folder);
    if (set.has_labels()) folder /= folders[static_cast<size_t>(set.labels[i].item<int64_t>())];
    write_image(folder / fmt::format("{:0{}}.png", i, width), set.inputs[i]);
  }
  progress.report("writing images", set.size(), set.size());
  print(fmt::format("{} images written to {}. This path now names a set.\n", set.size(), options.folder));
}

}  // namespace

void describe_data_export(Command& command) {
  const auto options = std::make_shared<SetExportOptions>();
  command.options = {
      {.name = "set", .to = &options->set, .help = "SET[:SPLIT][,MODIFIER...]", .required = true},
      {.name = "folder",
       .to = &options->folder,
       .help = "Folder to write to; it must be new or empty",
       .required = true},
      {.name = "--root", .to = &options->root, .help = "The data root; by default PRIORNET_DATA or its defaults"}};
  command.examples = {"priornet data export fashion-mnist:train ./clothes"};
  command.run = [options](const Invocation&) { run(*options); };
}

namespace {

// More features than this are for --json; the strongest are shown.
constexpr size_t kStatisticsShown = 20;

struct CompareOptions {
  std::string in;
  std::string out;
  std::string resample = "bilinear";
  bool no_antialias = false;
  bool invert = false;
  bool json = false;
  int64_t limit = 0;
};

const std::map<std::string, Resampling> kResampling(kResamplingNames.begin(), kResamplingNames.end());

// If a set is sorted by class, takes rows from all over it.
Dataset limited(const Dataset& set, int64_t limit) {
  if (limit == 0 || set.size() <= limit) return set;
  return select(set, (torch::arange(limit, torch::kInt64) * set.size()).div(limit, "floor"));
}

// If `like` is a table, the columns become numbers as its columns do.
Dataset loaded(const std::string& name, int64_t limit, const Dataset& like = {}) {
  TerminalProgress progress;
  LoadOptions options;
  options.progress = &progress;
  options.encoding = like.encoding;
  return limited(load_set(name, options), limit);
}

std::string listed(const std::vector<double>& values) {
  constexpr size_t kShown = 4;
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) texts.push_back(fmt::format("{:.3f}", values[i]));
  if (values.size() > kShown) texts.emplace_back("...");
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string sets_as_text(const SetComparison& comparison) {
  Table table;
  table.columns = {"", "set", "inputs", "shape", "mean", "deviation", "classes"};
  for (const auto& [role, set] : {std::pair("IN", &comparison.in), std::pair("OUT", &comparison.out)})
    table.add({role, set->name, Cell::number(static_cast<double>(set->size), 0),
               fmt::format("{}", fmt::join(set->shape, "x")), listed(set->means), listed(set->deviations),
               Cell::number(static_cast<double>(set->num_classes), 0)});
  return fmt::format("{}\n{:.2f} % of the inputs are of OUT{}{}\n", to_text(table), 100 * comparison.prevalence,
                     comparison.matching.empty() ? "" : "; OUT matched to IN: " + comparison.matching,
                     comparison.out_was_inverted ? "; OUT inverted" : "");
}

std::string statistics_as_text(const SetComparison& comparison) {
  auto statistics = comparison.statistics;
  std::stable_sort(statistics.begin(), statistics.end(),
                   [](const auto& a, const auto& b) { return a.auroc > b.auroc; });
  Table table;
  table.columns = {"statistic", "AUROC %", "higher in", "median of IN", "median of OUT"};
  if (!comparison.inverted_statistics.empty()) table.columns.emplace_back("AUROC %, OUT inverted");
  for (size_t i = 0; i < std::min(statistics.size(), kStatisticsShown); ++i) {
    const auto& statistic = statistics[i];
    std::vector<Cell> row{statistic.name, Cell::number(100 * statistic.auroc, 2),
                          statistic.auroc == 0.5    ? "-"
                          : statistic.out_is_higher ? "OUT"
                                                    : "IN",
                          Cell::number(statistic.in_median, 4), Cell::number(statistic.out_median, 4)};
    for (const auto& inverted : comparison.inverted_statistics)
      if (inverted.name == statistic.name) row.push_back(Cell::number(100 * inverted.auroc, 2));
    table.add(std::move(row));
  }
  auto text = to_text(table);
  if (statistics.size() > kStatisticsShown)
    text += fmt::format("and {} weaker ones\n", statistics.size() - kStatisticsShown);
  return text;
}

std::string as_text(const SetComparison& comparison) {
  auto text = fmt::format("{}\n{}\n", sets_as_text(comparison), statistics_as_text(comparison));
  for (const auto& sentence : verdict(comparison)) text += fmt::format("- {}\n", sentence);
  return text;
}

void run(const CompareOptions& options) {
  const auto in = loaded(options.in, options.limit);
  const auto out = loaded(options.out, options.limit, in);
  const auto comparison =
      compare_sets(in, out,
                   {.fit = {.resampling = kResampling.at(options.resample), .antialias = !options.no_antialias},
                    .invert_out = options.invert});
  print(options.json ? to_json(comparison) : as_text(comparison));
}

}  // namespace

void describe_data_compare(Command& command) {
  const auto options = std::make_shared<CompareOptions>();
  std::vector<std::string> resampling;
  for (const auto& [name, how] : kResamplingNames) resampling.emplace_back(name);
  command.options = {
      {.name = "IN", .to = &options->in, .help = "The in-distribution set: a name, or a path", .required = true},
      {.name = "OUT",
       .to = &options->out,
       .help = "The out-of-distribution set; it is brought to the size and channels of IN",
       .required = true},
      {.name = "--invert", .to = &options->invert, .help = "Exchange light and dark in OUT"},
      {.name = "--resample",
       .to = &options->resample,
       .help = "How OUT is resized to IN's size: nearest, bilinear or bicubic",
       .shows_default = true,
       .choices = resampling},
      {.name = "--no-antialias",
       .to = &options->no_antialias,
       .help = "Do not average pixels when images become smaller"},
      {.name = "--limit",
       .to = &options->limit,
       .help = "Compare at most this many inputs of each set, evenly spread",
       .range = kPositive},
      {.name = "--json", .to = &options->json, .help = "Print JSON with all digits"}};
  command.notes =
      "The AUROC of a statistic says how well this statistic alone tells the sets apart: 50 is chance, 100 is "
      "certainty.\n"
      "The highest one should stand beside every OOD result on these sets.";
  command.examples = {"priornet data compare mnist:test omniglot",
                      "priornet data compare cifar10:test tinyimagenet:val,without=cifar10"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
