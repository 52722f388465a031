#pragma once

#include <priornet/core/progress.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace priornet {

/// What has come of a file so far: PATH.part beside PATH. One process at a time holds it; the constructor waits for
/// the others, reporting "waiting for NAME". The file stays where it is when the object goes, also when the
/// process is killed, and what was appended is in it.
/// Whatever fails throws DataError: "PATH.part: cannot be written: REASON".
class PartFile {
 public:
  /// Makes the folders of `path` where they are missing.
  PartFile(std::filesystem::path path, Progress& progress);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const { return part_; }
  std::string name() const { return final_.filename().string(); }  ///< of the whole file
  int64_t size() const { return size_; }

  void append(std::string_view bytes);
  void clear();

  /// Gives the file its name, on disk; an older one of that name becomes PATH.bad. The last call on the object.
  void publish();

  /// Removes it: the file is not needed any more. The last call on the object.
  void discard();

  /// Makes it PATH.bad, in place of an older one, and goes on with an empty part.
  void set_aside(Progress& progress);

 private:
  void open(Progress& progress);
  bool is_still_there();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path final_;
  std::filesystem::path part_;
  int64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace priornet
