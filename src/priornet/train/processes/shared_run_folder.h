#pragma once

#include <priornet/train/processes/process_group.h>
#include <priornet/train/run_folder.h>

namespace priornet {

/// The folder of a run of several processes, on a disk that all of them see: process 0 begins it, the others follow.
/// Without `processes` as RunFolder has it. DataError, in process 0, as RunFolder has it.
RunFolder open_run_folder(const std::filesystem::path& path, RunFolder::Start start, ProcessGroup* processes);

}  // namespace priornet
