#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/image_sheets.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;

struct ShowOptions {
  std::string name;
  std::filesystem::path root;
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
  LoadOptions load{chosen_root(options.root), true, &progress};
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
  command.options = {{.name = "set",
                      .to = &options->name,
                      .help = "SET[:SPLIT][,MODIFIER...]: a name from the catalogue, or a path",
                      .required = true},
                     {.name = "--out",
                      .to = &options->out,
                      .help = "Also write a picture with some of its images, a contact sheet, to this .png file",
                      .endings = {".png"}},
                     root_option(options->root),
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

}  // namespace priornet::tool
