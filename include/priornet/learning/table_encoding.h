#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// How rows of a table, with text, dates and gaps, become rows of numbers. The encoding is found once, from the rows
// that a model learns from, and is stored with the model. New rows are then given unprepared, by the names of the
// columns.

namespace priornet {

enum class ColumnType { kNumber, kBoolean, kCategory, kDate, kDropped };

/// In the order of ColumnType.
constexpr std::array<std::string_view, 5> kColumnTypeNames = {"number", "boolean", "category", "date", "dropped"};

/// A column of a table, and the features made from it:
/// - number: its value; boolean: 0 or 1;
/// - category: one feature per level, 1 where the row has it; levels beyond those share `buckets` features by a hash of
///   their text;
/// - date: days since 1970, the day's place in the year as sine and cosine, one feature per day of the week; the time
///   as a part of the day, and as sine and cosine;
/// - dropped: none.
struct TableColumn {
  std::string name;
  ColumnType type = ColumnType::kNumber;
  std::string summary;              ///< for people: its range, its levels, or why it was dropped
  int64_t missing = 0;              ///< values, of the rows that the encoding was found from
  bool marks_missing = false;       ///< one more feature: 1 if the value is missing
  double fill = 0;                  ///< replaces a missing number, truth value or day: the median
  std::vector<std::string> levels;  ///< of a category, the most frequent first
  int64_t buckets = 0;              ///< of a category, for all other levels
  bool has_date = false;            ///< of a date
  bool has_time = false;            ///< of a date
  bool day_first = false;           ///< of a date: 03/04/2024 is in April

  int64_t features() const;
};

struct TableEncoding {
  std::vector<TableColumn> columns;  ///< all but the label, in the order of the table
  bool decimal_comma = false;        ///< 3,14 is a number

  /// How many numbers a row becomes.
  int64_t width() const;

  /// One per number: the column's own name where it becomes one feature, "colour=red", "age missing", "when: Monday",
  /// for a column without a name by its shown_name().
  std::vector<std::string> feature_names() const;

  /// The names of the columns that are not dropped.
  std::vector<std::string> column_names() const;

  /// A column for people: its name, or "(column 5)" where it has none, counted from 1 without the label.
  std::string shown_name(size_t column) const;
};

/// As JSON, and back. DataError, which begins with `owner`, for anything else.
std::string to_json(const TableEncoding& encoding);
TableEncoding table_encoding_from_json(std::string_view json, const std::string& owner);

/// The value of a column for people, from the features of a row: "3.5", "yes", "red", "2024-04-03 17:45"; "(other)" for
/// a level without a feature of its own, "missing".
std::string decoded_value(const TableColumn& column, const float* features);

/// The median, or the most frequent level: likewise.
std::string typical_value(const TableColumn& column);

/// What encoding made of a value that was not as in training.
struct EncodingRemark {
  enum class Kind {
    kMissing,       ///< where no value was missing in training
    kUnknownLevel,  ///< of a category
    kOtherType      ///< no number, date or truth value, where training had them; it counts as missing
  };
  size_t column = 0;  ///< of TableEncoding::columns
  Kind kind = Kind::kMissing;
  std::string value;
};

/// "colour: \"mauve\" was not seen in training".
std::string to_text(const EncodingRemark& remark, const TableEncoding& encoding);

/// Encodes rows whose values stand in the order of `names`.
class RowEncoder {
 public:
  /// The encoding must outlive this object. Other columns are ignored; a column of the encoding that `names` lacks
  /// counts as missing in every row. DataError if none of them is there, or if one is there twice.
  /// `decimal_comma`: whether 3,14 is a number in the table that the rows come from; by default as in training.
  RowEncoder(const TableEncoding& encoding, const std::vector<std::string>& names,
             std::optional<bool> decimal_comma = std::nullopt);

  /// Writes encoding.width() numbers. `values` are texts without quotes, one per name. A missing number is written as
  /// NaN with `keep_missing`, else as its replacement.
  void encode(const std::vector<std::string_view>& values, float* to, std::vector<EncodingRemark>* remarks = nullptr,
              bool keep_missing = false) const;

  /// Columns of the encoding that the names lack, as texts.
  const std::vector<std::string>& absent_columns() const { return absent_; }

 private:
  using Levels = std::unordered_map<std::string_view, int64_t>;
  struct Place {
    size_t column;  ///< of the encoding
    int64_t value;  ///< its place among the values, or -1
    int64_t feature;
    Levels levels;
  };

  void encode_value(const Place& place, std::string_view value, float* to, std::vector<EncodingRemark>* remarks,
                    bool keep_missing) const;

  const TableEncoding& encoding_;
  bool decimal_comma_ = false;
  size_t values_ = 0;
  std::vector<Place> places_;
  std::vector<std::string> absent_;
};

}  // namespace priornet
