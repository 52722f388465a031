#include "tool/report/results_folder.h"
#include <priornet/uncertainty/errors.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include "tool/report/table.h"

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

namespace fs = std::filesystem;

void leave_results(const fs::path& folder, const std::string& title) {
  fs::create_directories(folder);
  Table table{"Errors", {"model", "error"}, {}, {}};
  table.add({"DNN", Cell::number(1.5, 2)});
  nlohmann::ordered_json json = {{"title", title},
                                 {"tables", {nlohmann::ordered_json::parse(store_table(table))}},
                                 {"seeds", {{{"seed", 3}, {"models", "much"}}, {{"seed", 4}}}},
                                 {"run",
                                  {{"command", "priornet reproduce mnist"},
                                   {"commit", "abc"},
                                   {"libtorch", "2.11"},
                                   {"processor", "a CPU"},
                                   {"accelerator", ""},
                                   {"seconds", 12.4}}}};
  std::ofstream(folder / "results.json") << json.dump();
}

TEST(ResultsFolder, GivesTablesAndHowTheyWereMade) {
  const TemporaryFolder folder;
  leave_results(folder / "mnist", "MNIST");
  const auto results = read_results(folder / "mnist");
  EXPECT_EQ(results.title, "MNIST");
  EXPECT_EQ(to_markdown(results),
            "**Errors**\n\n| model | error |\n|---|---:|\n| DNN | 1.50 |\n\n"
            "`priornet reproduce mnist`, seeds 3 to 4; commit abc, LibTorch 2.11, a CPU, 12 s.\n");
  EXPECT_EQ(to_latex(results).find("\\begin{table}"), 0u);
}

TEST(ResultsFolder, HandsOnWhatLiesBesideButNotWhatEverySeedSays) {
  const TemporaryFolder folder;
  leave_results(folder / "mnist", "MNIST");
  std::ofstream(folder / "mnist/curves.json") << R"({"seed": 3})";
  const auto document = nlohmann::json::parse(read_results(folder / "mnist").document);
  EXPECT_EQ(document["seeds"], nlohmann::json::array({3, 4}));
  EXPECT_EQ(document["curves"]["seed"], 3);
  EXPECT_FALSE(document.contains("images"));
  EXPECT_EQ(document["folder"], "mnist");
  leave_results(folder / "dpn/evaluation", "a run");
  EXPECT_EQ(nlohmann::json::parse(read_results(folder / "dpn/evaluation").document)["folder"], "dpn");
}

TEST(ResultsFolder, IsFoundAtBelowAndInARun) {
  const TemporaryFolder folder;
  leave_results(folder / "all/b", "B");
  leave_results(folder / "all/a", "A");
  leave_results(folder / "run/evaluation", "R");
  EXPECT_EQ(folders_with_results(folder / "all"), (std::vector<fs::path>{folder / "all/a", folder / "all/b"}));
  EXPECT_EQ(folders_with_results(folder / "all/a"), (std::vector<fs::path>{folder / "all/a"}));
  EXPECT_EQ(folders_with_results(folder / "run"), (std::vector<fs::path>{folder / "run/evaluation"}));
  leave_results(folder / "runs/dpn/evaluation", "DPN");
  leave_results(folder / "runs/dnn/evaluation", "DNN");
  fs::create_directories(folder / "runs/not evaluated/checkpoints");
  EXPECT_EQ(folders_with_results(folder / "runs"),
            (std::vector<fs::path>{folder / "runs/dnn/evaluation", folder / "runs/dpn/evaluation"}));
  EXPECT_TRUE(runs_without_results(folder / "runs").empty());
  folder.file("runs/not evaluated/config.toml", "");
  EXPECT_EQ(runs_without_results(folder / "runs"), (std::vector<fs::path>{folder / "runs/not evaluated"}));
}

// Such as a folder of another user; here a link to itself, which the system refuses to follow for everyone.
TEST(ResultsFolder, IsFoundBesideWhatCannotBeRead) {
  const TemporaryFolder folder;
  leave_results(folder / "a", "A");
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(folders_with_results(folder / ""), (std::vector<fs::path>{folder / "a"}));
  fs::remove_all(folder / "a");
  EXPECT_TRUE(runs_without_results(folder / "").empty());
}

TEST(ResultsFolder, OfAModelFileLiesBesideIt) {
  const TemporaryFolder folder;
  folder.file("photos.priornet", "a model");
  EXPECT_EQ(evaluation_folder(folder / "photos.priornet"), folder / "photos.evaluation");
  folder.file("photos.model", "another model");
  EXPECT_EQ(evaluation_folder(folder / "photos.model"), folder / "photos.model.evaluation");
  EXPECT_EQ(evaluation_folder(folder / "runs/dpn"), folder / "runs/dpn/evaluation");
  const auto path = (folder / "photos.priornet").string();
  EXPECT_THROWS(DataError, folders_with_results(path),
                (path + ": was not evaluated yet: call priornet evaluate " + path +
                 " --data SET --ood SET with sets that the model did not learn from")
                    .c_str());
  leave_results(folder / "photos.evaluation", "P");
  EXPECT_EQ(folders_with_results(path), (std::vector<fs::path>{folder / "photos.evaluation"}));
  EXPECT_EQ(folders_with_results(folder / ""), (std::vector<fs::path>{folder / "photos.evaluation"}));
  EXPECT_EQ(nlohmann::json::parse(read_results(folder / "photos.evaluation").document)["folder"], "photos");
}

TEST(ResultsFolder, SaysWhatIsMissingOrDamaged) {
  const TemporaryFolder folder;
  const auto text = [&](const char* name) { return (folder / name).string(); };
  fs::create_directories(folder / "empty");
  EXPECT_THROWS(
      DataError, folders_with_results(folder / "empty"),
      (text("empty") + ": holds no results: there should be a results.json, as priornet reproduce leaves in its "
                       "folder and priornet evaluate in RUN/evaluation")
          .c_str());
  EXPECT_THROWS(DataError, folders_with_results(folder / "none"),
                (text("none") + ": cannot be read: No such file or directory").c_str());
  folder.file("results.json", "{\"title\": \"old\"}");
  EXPECT_THROWS(
      DataError, read_results(folder / ""),
      (text("results.json") + ": should hold \"tables\": an older priornet wrote it; run that command again").c_str());
  const auto expect_refused = [&](const char* json, const char* why) {
    folder.file("results.json", json);
    try {
      read_results(folder / "");
      ADD_FAILURE() << "was read: " << json;
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()).find(text("results.json") + why), 0u) << error.what();
    }
  };
  expect_refused("{", ": should be JSON: ");
  for (const auto* json : {R"({"tables": [], "run": 3})", R"({"tables": [], "seeds": 3})",
                           R"({"tables": [], "seeds": [3]})", R"({"tables": [], "run": {"kept": [{"models": 3}]}})"})
    expect_refused(json, ": should be as priornet writes it: ");
}

}  // namespace
}  // namespace priornet
