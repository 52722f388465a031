#include <testing/temporary_folder.h>
#include <testing/training_processes.h>

// What the other processes do when one process fails.

namespace priornet {
namespace {

const char* const kLastCheckpoint = "checkpoints/step-00000010.safetensors";  // 5 epochs of two steps each

std::string closed(const TrainingProcesses& run, int rank) {
  return run.name(rank) + " is gone: it closed its connections\n";
}

TEST(ProcessFaults, AKilledProcessIsNamedWithinSecondsAndTheRunGoesOnLater) {
  const TemporaryFolder folder;
  TrainingProcesses(2, folder / "whole", {"epochs=5"}).expect_success();
  for (const int killed : {0, 1}) {
    const auto path = folder / fmt::format("killed {}", killed);
    TrainingProcesses run(2, path, {"epochs=5", fmt::format("kill=7@{}", killed)});
    EXPECT_EQ(run[killed].wait(), 128 + SIGKILL);
    EXPECT_EQ(run[1 - killed].wait(), 1);
    EXPECT_EQ(run[1 - killed].err(), closed(run, killed));
    TrainingProcesses(2, path, {"epochs=5", "resume"}).expect_success();
    EXPECT_EQ(bytes_of(path / kLastCheckpoint), bytes_of(folder / "whole" / kLastCheckpoint));
    EXPECT_EQ(metric(path, "loss"), metric(folder / "whole", "loss"));
  }
}

// Why we watch processes ourselves: c10d alone reports a broken connection, but not whose.
TEST(ProcessFaults, C10dAloneDoesNotSayWhichProcessIsGone) {
  const TemporaryFolder folder;
  TrainingProcesses run(3, folder / "run", {"c10d_alone", "kill=7@1"});
  EXPECT_EQ(run[1].wait(), 128 + SIGKILL);
  for (const int rank : {0, 2}) {
    EXPECT_EQ(run[rank].wait(), 1);
    EXPECT_NE(run[rank].err(), "");
    EXPECT_EQ(run[rank].err().find("process 1"), std::string::npos) << run[rank].err();
    EXPECT_EQ(run[rank].err().find(std::to_string(run[1].id())), std::string::npos) << run[rank].err();
  }
}

// A monitored barrier tells only process 0 which process is missing; to the others it names process 0.
TEST(ProcessFaults, AMonitoredBarrierOfC10dNamesTheProcessToTheFirstAlone) {
  const TemporaryFolder folder;
  TrainingProcesses run(3, folder / "run", {"c10d_alone", "monitored", "freeze=2@1"});
  for (const int rank : {0, 2}) EXPECT_EQ(run[rank].wait(), 1);
  EXPECT_NE(run[0].err().find("1 failed to pass monitoredBarrier"), std::string::npos) << run[0].err();
  EXPECT_EQ(run[2].err().find("1 failed to pass monitoredBarrier"), std::string::npos) << run[2].err();
  EXPECT_EQ(run[2].err().find(std::to_string(run[1].id())), std::string::npos) << run[2].err();
}

TEST(ProcessFaults, AllOthersNameTheSameProcess) {
  const TemporaryFolder folder;
  TrainingProcesses run(4, folder / "run", {"epochs=5", "mlp", "kill=7@2"});
  EXPECT_EQ(run[2].wait(), 128 + SIGKILL);
  for (const int rank : {0, 1, 3}) {
    EXPECT_EQ(run[rank].wait(), 1);
    EXPECT_EQ(run[rank].err(), closed(run, 2)) << rank;
  }
}

TEST(ProcessFaults, AProcessThatHangsIsGoneWhenItsTimeIsUp) {
  for (const int frozen : {0, 1}) {
    const TemporaryFolder folder;
    TrainingProcesses run(2, folder / "run", {"epochs=5", "silence=2000", fmt::format("freeze=7@{}", frozen)});
    EXPECT_EQ(run[1 - frozen].wait(), 1);
    EXPECT_EQ(run[1 - frozen].err(), run.name(frozen) + " is gone: it gave no sign of life for 2 s\n");
  }
}

TEST(ProcessFaults, AnErrorOfOneProcessIsToldToTheOthers) {
  const TemporaryFolder folder;
  for (const int failing : {0, 1}) {
    TrainingProcesses run(2, folder / fmt::format("{}", failing), {"epochs=5", fmt::format("fail=5@{}", failing)});
    EXPECT_EQ(run[failing].wait(), 1);
    EXPECT_EQ(run[failing].err(), "as asked\n");
    EXPECT_EQ(run[1 - failing].wait(), 1);
    EXPECT_EQ(run[1 - failing].err(), run.name(failing) + " is gone: as asked\n");
  }
}

TEST(ProcessFaults, ProcessesThatDoNotTrainTheSameRunAreRefused) {
  const TemporaryFolder folder;
  TrainingProcesses run(2, folder / "run", {"other_seed=7@1"});
  EXPECT_EQ(run[1].wait(), 1);
  EXPECT_EQ(run[1].err(), "process 1 of 2: its configuration differs from that of process 0\n");
  EXPECT_EQ(run[0].wait(), 1);
  EXPECT_EQ(run[0].err(), run.name(1) + " is gone: process 1 of 2: its configuration differs from that of process 0\n");
}

TEST(ProcessFaults, ProcessesThatSeeDifferentFoldersAreRefused) {
  const TemporaryFolder folder;
  TrainingProcesses(1, folder / "0", {"epochs=1"}).expect_success();
  TrainingProcesses run(2, (folder / "0").parent_path(), {"epochs=1", "resume", "own_folders"});
  EXPECT_EQ(run[1].wait(), 1);
  EXPECT_EQ(run[1].err(), fmt::format("process 1 of 2: it found step 0 in {}, but process 0 found another step: all "
                                      "processes must see the same folder\n",
                                      (folder / "1").string()));
  EXPECT_EQ(run[0].wait(), 1);
}

TEST(ProcessFaults, AFolderThatHoldsARunIsRefusedByAll) {
  const TemporaryFolder folder;
  TrainingProcesses(1, folder / "run", {"epochs=1"}).expect_success();
  TrainingProcesses run(2, folder / "run", {"epochs=1"});
  const auto message =
      (folder / "run").string() + ": already holds a run: --resume goes on with it, --force removes it\n";
  EXPECT_EQ(run[0].wait(), 1);
  EXPECT_EQ(run[0].err(), message);
  EXPECT_EQ(run[1].wait(), 1);
  EXPECT_EQ(run[1].err(), run.name(0) + " is gone: " + message);
}

TEST(ProcessFaults, ProcessesThatNeverComeAreNamed) {
  const TemporaryFolder folder;
  const auto port = fmt::format("MASTER_PORT={}", free_local_port());
  const std::vector<std::string> command{PRIORNET_TRAINING_PROCESS, (folder / "run").string(), "join=1000"};
  StartedProcess first(command, {"RANK=0", "WORLD_SIZE=3", "MASTER_ADDR=127.0.0.1", port});
  EXPECT_EQ(first.wait(), 1);
  EXPECT_EQ(first.err(), "process 0 of 3 waited 1 s for the others: process 1, 2 did not come\n");
}

}  // namespace
}  // namespace priornet
