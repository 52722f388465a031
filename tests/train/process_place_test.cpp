#include <gtest/gtest.h>
#include <priornet/learning/processes.h>
#include <priornet/uncertainty/errors.h>
#include <stdlib.h>
#include <testing/throws.h>

#include <map>
#include <string>

namespace priornet {
namespace {

using Variables = std::map<std::string, std::string>;

/// The place that an environment with only these variables gives.
ProcessPlace place(const Variables& variables) {
  for (const char* name :
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "SLURM_PROCID", "SLURM_NTASKS",
        "SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_LAUNCH_NODE_IPADDR",
        "SLURM_JOB_ID", "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_RESTART_COUNT"})
    ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return place_from_environment();
}

Variables changed(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

const Variables kTorchrun = {
    {"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "node-a"}, {"MASTER_PORT", "29411"}};

const Variables kSlurm = {{"SLURM_PROCID", "3"},
                          {"SLURM_NTASKS", "4"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_JOB_ID", "1234567"},
                          {"SLURM_JOB_NODELIST", "gpu[017-018]"},
                          {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.17"}};

TEST(ProcessPlace, IsOneProcessWhereTheEnvironmentSaysNothing) {
  EXPECT_EQ(place({}).processes, 1);
  EXPECT_EQ(place({}).rank, 0);
  EXPECT_EQ(place({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).processes, 1);
}

TEST(ProcessPlace, IsAsTorchrunHasIt) {
  const auto found = place(kTorchrun);
  EXPECT_EQ(found.rank, 5);
  EXPECT_EQ(found.processes, 8);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.master, "node-a");
  EXPECT_EQ(found.port, 29411);
}

TEST(ProcessPlace, KnowsWhetherTorchrunItselfListens) {
  EXPECT_EQ(place(kTorchrun).attempt, "");
  EXPECT_EQ(place(changed(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False")).attempt, "");
  const auto listening = changed(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True");
  EXPECT_EQ(place(listening).attempt, "0");
  EXPECT_EQ(place(changed(listening, "TORCHELASTIC_RESTART_COUNT", "2")).attempt, "2");
}

TEST(ProcessPlace, IsAsAnOperatorOfKubernetesHasItWithoutLocalRankAndPort) {
  const auto found = place({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-master-0"}});
  EXPECT_EQ(found.local_rank, 0);
  EXPECT_EQ(found.port, 29500);
}

TEST(ProcessPlace, IsAsSrunHasIt) {
  const auto found = place(kSlurm);
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.processes, 4);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.master, "gpu017");
  EXPECT_EQ(found.port, 20000 + 4567);
}

TEST(ProcessPlace, TakesTheFirstNodeOfAnyList) {
  const auto master = [](const char* nodes) { return place(changed(kSlurm, "SLURM_STEP_NODELIST", nodes)).master; };
  EXPECT_EQ(master("login"), "login");
  EXPECT_EQ(master("b7,b8"), "b7");
  EXPECT_EQ(master("b[7,9-12],c1"), "b7");
  EXPECT_EQ(master("rack[2-3]node[04-09]"), "rack2node04");
  EXPECT_THROWS(ConfigError, master("b[7"), "SLURM_JOB_NODELIST holds a [ without its ]: b[7");
}

TEST(ProcessPlace, TakesTheLaunchingNodeWhereSlurmNamesNoNodes) {
  EXPECT_EQ(place(changed(kSlurm, "SLURM_JOB_NODELIST", "")).master, "10.0.0.17");
}

TEST(ProcessPlace, GivesTheUserTheLastWordOnWhereToMeet) {
  auto variables = changed(kSlurm, "MASTER_ADDR", "elsewhere");
  const auto found = place(changed(variables, "MASTER_PORT", "7"));
  EXPECT_EQ(found.master, "elsewhere");
  EXPECT_EQ(found.port, 7);
}

// A batch script has the variables of the whole job, but srun has not started it.
TEST(ProcessPlace, IsOneProcessInABatchScript) { EXPECT_EQ(place(changed(kSlurm, "SLURM_STEP_ID", "")).processes, 1); }

TEST(ProcessPlace, NamesTheVariableThatIsMissing) {
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "RANK", "")), "WORLD_SIZE is set, but RANK is not");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "WORLD_SIZE", "")), "RANK is set, but WORLD_SIZE is not");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "MASTER_ADDR", "")), "WORLD_SIZE is set, but MASTER_ADDR is not");
}

TEST(ProcessPlace, NamesTheVariableThatMakesNoSense) {
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "RANK", "8")),
                "RANK should be a whole number from 0 to 7, found 8");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "RANK", "-1")),
                "RANK should be a whole number from 0 to 7, found -1");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "WORLD_SIZE", "two")),
                "WORLD_SIZE should be a whole number from 1 to 65536, found two");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "WORLD_SIZE", "99999999999")),
                "WORLD_SIZE should be a whole number from 1 to 65536, found 99999999999");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "LOCAL_RANK", "1.5")),
                "LOCAL_RANK should be a whole number from 0 to 65535, found 1.5");
  EXPECT_THROWS(ConfigError, place(changed(kTorchrun, "MASTER_PORT", "0")),
                "MASTER_PORT should be a whole number from 1 to 65535, found 0");
  EXPECT_THROWS(ConfigError, place(changed(kSlurm, "SLURM_PROCID", "4")),
                "SLURM_PROCID should be a whole number from 0 to 3, found 4");
}

}  // namespace
}  // namespace priornet
