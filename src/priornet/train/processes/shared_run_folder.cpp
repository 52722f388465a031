#include <priornet/train/processes/shared_run_folder.h>

namespace priornet {

RunFolder open_run_folder(const std::filesystem::path& path, RunFolder::Start start, ProcessGroup* processes) {
  if (processes == nullptr) return RunFolder(path, start);
  if (!processes->is_first()) {
    processes->barrier();
    return RunFolder(path, RunFolder::Start::kResume);
  }
  try {
    RunFolder folder(path, start);
    processes->barrier();
    return folder;
  } catch (const DataError& error) {
    processes->leave(error.what());
    throw;
  }
}

}  // namespace priornet
