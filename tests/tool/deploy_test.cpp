#include <fmt/format.h>
#include <priornet/learning/images.h>
#include <priornet/learning/resize.h>
#include <testing/gzip_bytes.h>
#include <testing/small_images.h>
#include <testing/small_models.h>
#include <testing/tool.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

// The commands of docs/deploy.md, on a folder of images and a table that are made up.

namespace priornet {
namespace {

namespace fs = std::filesystem;

// One folder per class of small_images.
struct PhotoFiles : InputFiles {
  explicit PhotoFiles(int64_t count) { write("photos", small_images(count, 1)); }

  void write(const std::string& name, const Dataset& set) const {
    for (int64_t i = 0; i < set.size(); ++i) {
      const auto folder = *this / name / set.class_names[static_cast<size_t>(set.labels[i].item<int64_t>())];
      fs::create_directories(folder);
      std::ofstream(folder / fmt::format("{}.png", i), std::ios::binary) << encode_png(set.inputs[i]);
    }
  }
  std::string at(const std::string& name) const { return (*this / name).string(); }
};

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::istringstream lines(text);
  std::vector<nlohmann::json> result;
  for (std::string line; std::getline(lines, line);) result.push_back(nlohmann::json::parse(line));
  return result;
}

TEST(Deploy, WalksFromAFolderOfImagesToVerdicts) {
  const PhotoFiles files(600);
  files.write("test", small_images(200, 7));
  const auto run = files.at("run");
  const auto model = files.at("photos.priornet");
  const auto trained = run_tool({"train", "--data", files.at("photos"), "--out", run, "--set", "training.epochs=12"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_EQ(trained.out, fmt::format("Trained: {0}\nEvaluate it: priornet evaluate {0} --data SET --ood SET...\nMake a "
                                     "model file: priornet calibrate {0}\n",
                                     run));
  EXPECT_EQ(run_tool({"evaluate", run, "--data", files.at("test")}).status, 0);

  const auto calibrated = run_tool({"calibrate", run, "--out", model, "--check", files.at("test"), "--json"});
  ASSERT_EQ(calibrated.status, 0) << calibrated.err;
  const auto report = nlohmann::json::parse(calibrated.out);
  EXPECT_EQ(report["calibration_size"], 59);
  EXPECT_EQ(report["watches"][0]["cause"], "unfamiliar");
  EXPECT_EQ(report["watches"].back()["measure"], "layers_mahalanobis");
  EXPECT_NEAR(report["false_alarm_range"][1].get<double>(), 0.1171, 1e-4);  // Beta(3, 57) at 0.975
  EXPECT_LE(report["sets"][0]["rejected"], 2);                              // of 59; the promise allows three of 60
  EXPECT_EQ(report["sets"][1]["size"], 200);
  EXPECT_LT(report["sets"][1]["rejected"], 40);

  files.file("broken.png", "no image");
  const auto said = run_tool({"predict", model, files.at("test"), files.at("broken.png"), "--format", "jsonl"});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.err, "priornet: 1 of 201 inputs could not be read\n");
  const auto rows = lines_of(said.out);
  ASSERT_EQ(rows.size(), 201u);
  EXPECT_EQ(rows[200]["error"],
            "should be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image, begins with the bytes 6e 6f 20 69 6d 61 67 65");
  int64_t right = 0;
  for (size_t i = 0; i < 200; ++i) {
    const auto name = rows[i]["input"].get<std::string>();
    right += name.find("/" + rows[i]["prediction"].get<std::string>() + "/") != std::string::npos ? 1 : 0;
    EXPECT_EQ(rows[i]["verdict"] == "accept", rows[i]["p_value"] > 0.05);
    EXPECT_EQ(rows[i]["verdict"] == "accept", rows[i]["verdict_by"] == "");
    EXPECT_TRUE(rows[i]["layers_mahalanobis"].is_number());
  }
  EXPECT_GT(right, 180);
  const auto table = run_tool({"predict", model, files.at("test/left")});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_NE(table.out.find("distributional"), std::string::npos);
}

// Twenty kinds of files that people have in folders of photographs; the fixtures are small pictures of every format.
void add_trouble(const PhotoFiles& files) {
  const auto fixture_bytes = [](const std::string& name) {
    return bytes_of(fs::path(PRIORNET_TEST_FIXTURES) / "images" / name);
  };
  const auto add = [&](const std::string& name, const std::string& bytes) { files.file("photos/" + name, bytes); };
  const auto jpeg = fixture_bytes("rgb_420.jpg");
  // Images that cannot be used.
  add("left/1 empty.jpg", "");
  add("left/2 cut.jpg", jpeg.substr(0, jpeg.size() / 2));
  add("left/3 text.png", "not found");
  add("left/4 page.jpg", "<!DOCTYPE html><html>404</html>");
  auto flipped = fixture_bytes("rgb_alpha.png");
  flipped[flipped.size() - 20] ^= 1;
  add("right/5 damaged.png", flipped);
  add("right/6 film.gif", "GIF89a");
  add("7 lost.png", fixture_bytes("grey1.png"));
  // Files that are no images, and an empty folder.
  add("left/8 Thumbs.db", "thumbs");
  add("right/9 notes.txt", "notes");
  add("10 readme.md", "photos");
  fs::create_directories(files / "photos/11 empty class");
  add("left/.12 hidden.jpg", "hidden");
  // Unusual images that can be used.
  add("left/13 turned.jpg", fixture_bytes("turned6.jpg"));
  add("left/14 film.gif", fixture_bytes("palette.gif"));
  add("right/15 old.bmp", fixture_bytes("runs8.bmp"));
  add("right/16 scan.tif", fixture_bytes("palette.tif"));
  add("right/17 phone.HEIC", fixture_bytes("rgb.heic"));
  add("left/18 inks.jpeg", fixture_bytes("cmyk.jpg"));
  add("left/19 a jpeg.png", jpeg);
  add("right/20 \xc3\xa4 deep.PNG", fixture_bytes("rgb16.png"));
}

TEST(Deploy, TrainsOnAThousandPhotosWithTwentyKindsOfTroubleAtTheFirstAttempt) {
  const PhotoFiles files(1000);
  add_trouble(files);
  const auto run = files.at("run");
  const auto trained = run_tool({"train", "--data", files.at("photos"), "--out", run, "--force", "--epochs", "1",
                                 "--set", "model.blocks=[[2],[2],[2]]", "outside.source=gaussian-noise"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.err.find("its images have several sizes; they are resized to 64x64"), std::string::npos)
      << trained.err;
  EXPECT_NE(trained.err.find("warning: 7 images could not be used and were left out: " + run + "/left-out.csv"),
            std::string::npos)
      << trained.err;
  const auto shown = run_tool({"data", "show", files.at("photos") + ",size=32"});
  EXPECT_NE(shown.err.find("warning: 7 images cannot be used and are left out: "), std::string::npos) << shown.err;
  EXPECT_NE(shown.err.find(" and 2 more"), std::string::npos) << shown.err;
  std::istringstream list(bytes_of(fs::path(run) / "left-out.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(list, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), 1u + 11) << "a header, seven faults, three files that are no images, an empty class";
  EXPECT_EQ(lines[0], "file,why");
  const auto strict = run_tool({"train", "--data", files.at("photos"), "--out", run, "--force", "--strict"});
  EXPECT_EQ(strict.status, 1);
  EXPECT_NE(strict.err.find("photos/"), std::string::npos) << strict.err;
}

TEST(Deploy, CalibratesFromAnyFolderAndEvaluatesTheModelFile) {
  const PhotoFiles files(200);
  const auto in = [&](const std::string& folder, const std::string& arguments) {
    return run_process(
        {"/bin/sh", "-c", "cd \"$1\" && exec \"$2\" " + arguments, "sh", files.at(folder), PRIORNET_TOOL_PATH});
  };
  const auto trained = in("", "train --data ./photos --out run --epochs 1");
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto calibrated = in("photos", "calibrate ../run --out ../m.priornet");
  EXPECT_EQ(calibrated.status, 0) << calibrated.err;
  const auto resumed = in("photos", "train ../run/config.toml --out ../run --resume");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  const auto of_file = in("", "evaluate m.priornet --data ./photos --json");
  ASSERT_EQ(of_file.status, 0) << of_file.err;
  const auto of_run = in("", "evaluate run --data ./photos --json");
  EXPECT_EQ(nlohmann::json::parse(of_file.out)["in_distribution"]["error"],
            nlohmann::json::parse(of_run.out)["in_distribution"]["error"]);
  EXPECT_FALSE(fs::exists(files.at("m.priornet/evaluation")));
}

// As predict takes them: the model's size is known, so nobody has to name it.
TEST(Deploy, BringsImagesOfSeveralSizesToTheSizeOfTheModel) {
  const PhotoFiles files(0);
  const auto with_a_large_one = [&](const std::string& name, uint64_t seed) {
    const auto set = small_images(60, seed);
    files.write(name, set);
    const auto label = static_cast<size_t>(set.labels[7].item<int64_t>());
    files.file(name + "/" + set.class_names[label] + "/7.png",
               encode_png(resize(set.inputs[7], ResizeOptions{12, 10})));
    return files.at(name);
  };
  const auto data = with_a_large_one("new", 2);
  const auto other = with_a_large_one("other", 3);
  const auto note = [](const std::string& name) {
    return name + ": its images have several sizes; they are resized to 8x8, which the model takes\n";
  };
  const auto run = small_run().string();
  const auto model = files.at("m.priornet");
  const auto calibrate = [&](const std::string& suffix) {
    return run_tool({"calibrate", run, "--data", data + suffix, "--check", other + suffix, "--no-detectors", "--out",
                     model, "--json"});
  };
  const auto calibrated = calibrate("");
  ASSERT_EQ(calibrated.status, 0) << calibrated.err;
  EXPECT_NE(calibrated.err.find(note(data)), std::string::npos) << calibrated.err;
  const auto watches = [](const Outcome& outcome) { return nlohmann::json::parse(outcome.out)["watches"]; };
  EXPECT_EQ(watches(calibrated), watches(calibrate(",size=8")));

  const auto evaluate = [&](const std::string& suffix) {
    return run_tool(
        {"evaluate", model, "--data", data + suffix, "--ood", other + suffix, "--replicates", "10", "--json"});
  };
  const auto evaluated = evaluate("");
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_NE(evaluated.err.find(note(data)), std::string::npos) << evaluated.err;
  EXPECT_NE(evaluated.err.find(note(other)), std::string::npos) << evaluated.err;
  const auto wanted = nlohmann::json::parse(evaluate(",size=8").out);
  const auto found = nlohmann::json::parse(evaluated.out);
  EXPECT_EQ(found["in_distribution"]["nll"], wanted["in_distribution"]["nll"]);
  EXPECT_EQ(found["out_of_distribution"][0]["detection"], wanted["out_of_distribution"][0]["detection"]);

  const auto refused = run_tool({"calibrate", run, "--data", data, "--no-detectors", "--no-resize", "--out", model});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("add a size for images of several sizes"), std::string::npos) << refused.err;
  const auto network = files.text("net.pt", "a network whose size nobody knows");
  const auto unknown = run_tool({"calibrate", "--network", network, "--data", data, "--kind", "softmax"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_NE(unknown.err.find(data +
                             ": its images have several sizes, and the file of a network does not say which it "
                             "takes: add that size to the name, such as " +
                             data + ",size=224"),
            std::string::npos)
      << unknown.err;
}

// The sets are not there: it is said before any is read.
TEST(Deploy, RefusesDropoutSamplesOfANetworkWithoutDropout) {
  const InputFiles files;
  auto config = small_run_config("dnn");
  config.model.keep_dense = 1.0;
  config.model.keep_convolution = 1.0;
  config.epochs = 1;
  const auto run = (files / "run").string();
  train_small_run(run, config);
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"calibrate", run},
                                             {"evaluate", run, "--data", "./none"},
                                             {"export", run, "--onnx", (files / "m.onnx").string()}}) {
    auto asked = words;
    asked.insert(asked.end(), {"--dropout-samples", "3"});
    expect_failure(run_tool(asked),
                   "--dropout-samples: the network has no dropout, so its dropout samples would all be the same");
  }
}

// The set by another path, a copy of it, and a set that the model does not know.
TEST(Deploy, WarnsOfForeignSetsThatTheModelLearntFrom) {
  const PhotoFiles files(200);
  files.write("other", small_images(60, 5));
  files.write("copy", small_images(60, 5));
  files.write("unknown", small_images(60, 6));
  const auto trained = run_tool(
      {"train", "--data", files.at("photos"), "--out", files.at("run"), "--epochs", "1", "--ood", files.at("other")});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto cautions = [&](const std::string& ood) {
    const auto said = run_tool(
        {"evaluate", files.at("run"), "--data", files.at("photos"), "--ood", ood, "--replicates", "10", "--json"});
    EXPECT_EQ(said.status, 0) << said.err;
    return nlohmann::json::parse(said.out)["summary"]["warnings"].dump();
  };
  EXPECT_NE(cautions(files.at("photos/../other")).find("learnt that inputs of other are foreign"), std::string::npos);
  EXPECT_NE(cautions(files.at("copy")).find("learnt that inputs of copy are foreign"), std::string::npos);
  EXPECT_EQ(cautions(files.at("unknown")).find("are foreign"), std::string::npos);
}

// A name of more than 40 letters is cut, in the table alone.
TEST(Deploy, AlignsPredictionsUnderLongNamesOfClasses) {
  const InputFiles files;
  const std::string long_name = "a very long name that some taxonomist wrote down";
  std::string text = "x,kind\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{}.5,{}\n", i % 2 * 10 + i % 3, i % 2 == 0 ? "größer" : long_name);
  const auto data = files.text("a.csv", text) + ",label=kind";
  const auto run = (files / "run").string();
  ASSERT_EQ(run_tool({"train", "--data", data, "--out", run, "--epochs", "30"}).status, 0);
  const auto input = files.text("new.csv", "x\n1.5\n11.5\n");
  const auto table = run_tool({"predict", run, input}).out;
  std::istringstream lines(table);
  std::string header, first, second;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(header.find("probability"), 32 + 2 + 40 + 2u) << table;
  const auto at = [](const std::string& line, const std::string& part) {  // in letters
    const auto before = line.substr(0, line.find(part));
    return std::count_if(before.begin(), before.end(), [](char byte) { return (byte & 0xc0) != 0x80; });
  };
  EXPECT_EQ(at(first, " 0."), at(second, " 0.")) << table;
  EXPECT_NE(table.find(long_name.substr(0, 39) + "…"), std::string::npos) << table;
  EXPECT_NE(run_tool({"predict", run, input, "--format", "csv"}).out.find(long_name), std::string::npos);
}

TEST(Deploy, WarnsOfClassesWithFewImages) {
  const PhotoFiles files(200);
  for (int i = 0; i < 5; ++i) {
    fs::create_directories(files / "photos/rare");
    files.file(fmt::format("photos/rare/{}.png", i), encode_png(small_images(5, 3).inputs[i]));
  }
  const auto trained =
      run_tool({"train", "--data", files.at("photos"), "--out", files.at("run"), "--epochs", "1", "--quiet"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(trained.err.starts_with("priornet: warning: fewer than 10 inputs to learn from: rare (")) << trained.err;
}

TEST(Deploy, WalksFromATableToVerdicts) {
  const InputFiles files;
  auto generator = make_generator(1);
  const auto draws = torch::randn({600, 2}, generator);
  std::string text = "width,kind,length\n";
  for (int64_t i = 0; i < 600; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    text += fmt::format("{:.4f},{},{:.4f}\n", 1000 + 50 * side + 10 * draws[i][0].item<double>(),
                        i % 2 == 0 ? "oak" : "elm", 0.01 * draws[i][1].item<double>());
  }
  const auto data = files.text("trees.csv", text) + ",label=kind";
  const auto run = (files / "run").string();
  const auto model = (files / "trees.priornet").string();
  const auto trained = run_tool({"train", "--data", data, "--out", run, "--set", "training.epochs=40"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto evaluated = run_tool({"evaluate", run, "--data", data, "--json"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_LT(nlohmann::json::parse(evaluated.out)["in_distribution"]["error"], 0.02);
  const auto turned = files.text("turned.csv", "length,age,kind,width\n0,3,oak,1050\n0,4,elm,950\n") + ",label=kind";
  const auto by_name = run_tool({"evaluate", run, "--data", turned, "--json"});
  ASSERT_EQ(by_name.status, 0) << by_name.err;
  EXPECT_EQ(nlohmann::json::parse(by_name.out)["in_distribution"]["errors"], 0);
  ASSERT_EQ(run_tool({"calibrate", run, "--out", model}).status, 0);
  const auto input = files.text("new.csv", "length,width\n0,1050\n0,950\n0.5,1050\n0,oops\n");
  const auto said = run_tool({"predict", model, input, "--format", "jsonl"});
  EXPECT_EQ(said.status, 0) << said.err;
  const auto rows = lines_of(said.out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["prediction"], "oak");
  EXPECT_EQ(rows[1]["prediction"], "elm");
  EXPECT_EQ(rows[2]["verdict"], "unfamiliar") << rows[2];
  EXPECT_TRUE(rows[2][rows[2]["verdict_by"].get<std::string>()].is_number()) << rows[2];
  EXPECT_EQ(rows[3]["notes"][0], "width: \"oops\" is not a number and counts as missing");
  EXPECT_EQ(rows[3]["row"], 3);
  const auto narrow = files.text("narrow.csv", "width\n1050\n950\n");
  const auto of_narrow = run_tool({"predict", model, narrow, "--format", "jsonl"});
  const std::string absent = "length: this column is not there; its values count as missing";
  for (const auto& row : lines_of(of_narrow.out)) EXPECT_EQ(row["notes"], nlohmann::json({absent})) << row;
  EXPECT_EQ(of_narrow.err, narrow + ":0: " + absent + "\n") << "for people, once per table";

  const auto over = run_tool({"predict", model, input, "--out", (files / "." / "new.csv").string()});
  EXPECT_EQ(over.status, 2);
  EXPECT_NE(over.err.find("new.csv is also an input, and would be lost"), std::string::npos) << over.err;
  EXPECT_EQ(run_tool({"predict", model, input, "--out", model}).status, 2);
  EXPECT_EQ(lines_of(run_tool({"predict", model, input, "--format", "jsonl"}).out).size(), 4u) << "still there";

  const auto verdicts = run_tool({"predict", model, input, "--format", "csv"});
  EXPECT_NE(verdicts.out.find(",columns_mahalanobis,columns_shift,p_value,verdict,verdict_by,error\n"),
            std::string::npos)
      << verdicts.out;

  const auto csv = run_tool({"predict", run, input, "--format", "csv"});
  EXPECT_TRUE(csv.out.starts_with("input,row,prediction,probability,max_prob,entropy,")) << csv.out;
  EXPECT_EQ(csv.out.find("verdict"), std::string::npos);
}

// Text, truths, dates, gaps and decimal commas, compressed or not, with columns in any order: from training to strange
// rows.
TEST(Deploy, TakesMixedTablesPackedAndByName) {
  const InputFiles files;
  auto generator = make_generator(2);
  const auto draws = torch::rand({500, 3}, generator);
  const auto row = [&](int64_t i) {
    const bool late = draws[i][0].item<double>() < 0.5;
    auto weight = fmt::format("{:.3f}", (late ? 6 : 2) + draws[i][1].item<double>());
    std::replace(weight.begin(), weight.end(), '.', ',');
    return fmt::format("{};{};{};{:02}/03/2024;{}\n", i % 10 == 0 ? "NA" : weight, late ? "van" : "bike",
                       draws[i][2].item<double>() < 0.5 ? "yes" : "no", i % 28 + 1, late ? "late" : "on time");
  };
  const std::string names = "weight;carrier;gift;day;\"when, at last\"\n";
  std::string learnt = names, kept = names;
  for (int64_t i = 0; i < 400; ++i) learnt += row(i);
  for (int64_t i = 400; i < 500; ++i) kept += row(i);
  const std::string label = ",label=\"when, at last\"";
  const auto data = files.text("orders.csv.gz", gzip_bytes(learnt)) + label;
  const auto run = (files / "run").string();
  const auto model = (files / "orders.priornet").string();
  const auto trained = run_tool({"train", "--data", data, "--out", run, "--epochs", "30"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  ASSERT_EQ(run_tool({"calibrate", run, "--out", model}).status, 0);

  const std::string asked =
      "gift,day,carrier,weight\nyes,05/03/2024,van,6.5\nno,06/03/2024,bike,\n?,07/03/2024,sled,2.1\n";
  const auto plain = run_tool({"predict", model, files.text("new.csv", asked), "--format", "jsonl"});
  ASSERT_EQ(plain.status, 0) << plain.err;
  const auto rows = lines_of(plain.out);
  EXPECT_EQ(rows[0]["prediction"], "late");
  EXPECT_EQ(rows[1]["prediction"], "on time");
  EXPECT_EQ(rows[2]["notes"], nlohmann::json({"carrier: \"sled\" was not seen in training",
                                              "gift: is missing here, but never was in training"}));
  auto packed =
      lines_of(run_tool({"predict", model, files.text("new.csv.gz", gzip_bytes(asked)), "--format", "jsonl"}).out);
  ASSERT_EQ(packed.size(), 3u);
  for (size_t i = 0; i < packed.size(); ++i) {
    packed[i]["input"] = rows[i]["input"];
    EXPECT_EQ(packed[i], rows[i]);
  }
  const auto halved = gzip_bytes(asked).substr(0, 40);
  const auto damaged = run_tool({"predict", model, files.text("half.csv.gz", halved), "--format", "jsonl"});
  EXPECT_EQ(damaged.status, 1) << damaged.out;

  // Orders of a kind, a weight and a year that nobody saw.
  const auto strange = files.text("strange.tsv",
                                  "weight\tcarrier\tgift\tday\n900\tballoon\tyes\t01/01/1970\n"
                                  "800\trocket\tno\t02/01/1970\n700\tzeppelin\tno\t03/01/1970\n");
  for (const auto& asked_of : {run, model}) {
    const auto said = run_tool({"evaluate", asked_of, "--data", files.text("kept.csv", kept) + label, "--ood", strange,
                                "--replicates", "20", "--json"});
    ASSERT_EQ(said.status, 0) << said.err;
    const auto json = nlohmann::json::parse(said.out);
    EXPECT_LT(json["in_distribution"]["error"], 0.05);
    EXPECT_EQ(json["out_of_distribution"][0]["set"], strange);
    EXPECT_NE(said.err.find("carrier: \"balloon\" was not seen in training (3 rows)"), std::string::npos) << said.err;
  }
}

TEST(Deploy, WatchesTheDetectorsThatItIsTold) {
  const InputFiles files;
  std::string text = "x,y,kind\n";
  for (int i = 0; i < 120; ++i) text += fmt::format("{},{},{}\n", i % 7, i % 11, i % 2 == 0 ? "even" : "odd");
  const auto data = files.text("t.csv", text) + ",label=kind";
  const auto run = (files / "run").string();
  const auto model = (files / "m.priornet").string();
  ASSERT_EQ(run_tool({"train", "--data", data, "--out", run, "--epochs", "2"}).status, 0);
  const auto watches = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"calibrate", run, "--out", model, "--json"});
    const auto said = run_tool(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    std::vector<std::string> names;
    const auto report = nlohmann::json::parse(said.out);
    for (const auto& watch : report["watches"])
      if (watch["cause"] == "unfamiliar") names.push_back(watch["measure"]);
    return names;
  };
  const auto columns = [&] {
    const auto said = run_tool({"predict", model, files.text("one.csv", "x,y\n1,2\n"), "--format", "jsonl"});
    return lines_of(said.out).at(0);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(watches({}), (Names{"differential_entropy", "columns_mahalanobis", "columns_shift"}));
  EXPECT_EQ(watches({"--no-detectors"}), Names{"differential_entropy"});
  EXPECT_FALSE(columns().contains("columns_shift"));
  EXPECT_EQ(watches({"--watch", "knn", "--detectors", "all"}), (Names{"differential_entropy", "knn"}));
  for (const auto* name : {"knn", "vim", "gen", "max_logit", "columns_shift"}) EXPECT_TRUE(columns().contains(name));
  EXPECT_FALSE(columns().contains("odin"));

  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"calibrate", run, "--out", model});
    return run_tool(arguments).err;
  };
  EXPECT_NE(refused({"--watch", "knm"}).find("there is no detector knm: should be one of max_logit, gen, react, "),
            std::string::npos);
  EXPECT_NE(refused({"--detectors", "odin"}).find("odin needs passes of its own"), std::string::npos);
  EXPECT_NE(refused({"--watch", "image_statistics"}).find("it looks at images"), std::string::npos);
  EXPECT_NE(refused({"--no-detectors", "--watch", "knn"}).find("--no-detectors: "), std::string::npos);
  fs::rename(files / "t.csv", files / "other.csv");
  const auto kept = (files / "other.csv").string() + ",label=kind";
  EXPECT_NE(refused({"--data", kept}).find("--no-detectors does without them"), std::string::npos);
  EXPECT_EQ(watches({"--data", kept, "--no-detectors"}), Names{"differential_entropy"});
}

TEST(Deploy, GoesOnAfterAnInputThatTheNetworkHasNoAnswerTo) {
  const InputFiles files;
  std::string text = "x,y,kind\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{},{}\n", i % 7, i % 5, i % 2 == 0 ? "even" : "odd");
  const auto data = files.text("t.csv", text) + ",label=kind";
  const auto run = (files / "run").string();
  ASSERT_EQ(
      run_tool({"train", "--data", data, "--out", run, "--set", "training.epochs=1", "data.standardise=false"}).status,
      0);
  const auto input = files.npy("new.npy", torch::tensor({{1.0, 2.0}, {3.4e38, 3.4e38}, {3.0, 4.0}}, torch::kFloat32));
  const auto said = run_tool({"predict", run, input, "--format", "jsonl"});
  EXPECT_EQ(said.status, 1);
  const auto rows = lines_of(said.out);
  ASSERT_EQ(rows.size(), 3u) << said.err;
  EXPECT_EQ(rows[1]["error"], "run: the network's logits for an input are not finite");
  const auto alone = lines_of(run_tool({"predict", run, files.text("one.csv", "x,y\n3,4\n"), "--format", "jsonl"}).out);
  EXPECT_EQ(rows[2]["prediction"], alone.at(0)["prediction"]);
  EXPECT_TRUE(rows[0].contains("probability"));
}

TEST(Deploy, NoticesThatTheDataChanged) {
  const InputFiles files;
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{}\n", i, i % 2 == 0 ? "even" : "odd");
  const auto data = files.text("t.csv", "x,kind\n" + text) + ",label=kind";
  const auto run = (files / "run").string();
  const std::vector<std::string> train = {"train", "--data", data, "--out", run, "--set", "training.epochs=2"};
  ASSERT_EQ(run_tool(train).status, 0);
  auto again = train;
  again.push_back("--resume");
  EXPECT_EQ(run_tool(again).status, 0);
  // One more row at the top: the rows kept back would now be others, which the network learnt from.
  files.text("t.csv", "x,kind\n60,even\n" + text);
  expect_failure(run_tool({"calibrate", run, "--out", (files / "m.priornet").string()}),
                 data + ": its rows have changed since " + run +
                     " was trained on it, so the rows kept back cannot be found: give --data a set that the run did "
                     "not learn from");
  expect_failure(run_tool(again), data + ": its rows have changed since " + run + " began; --force starts again");
  files.text("t.csv", "x,kind\n" + text);
  EXPECT_EQ(run_tool({"calibrate", run, "--out", (files / "m.priornet").string()}).status, 0);
}

TEST(Deploy, PrintsTheDefaultsAsAConfiguration) {
  const PhotoFiles files(60);
  const auto printed = run_tool({"train", "--data", files.at("photos"), "--print-config"});
  ASSERT_EQ(printed.status, 0) << printed.err;
  EXPECT_NE(printed.out.find("calibration_share = 0.3"), std::string::npos) << printed.out;
  const auto again = run_tool({"train", files.text("own.toml", printed.out), "--print-config"});
  EXPECT_EQ(again.out, printed.out) << again.err;
  EXPECT_EQ(run_tool({"train"}).status, 2);
}

TEST(Deploy, AnswersWhatComesBySeveralWaysAndResizesOnlyWhereTheModelMay) {
  const PhotoFiles files(100);
  const auto run = files.at("run");
  ASSERT_EQ(run_tool({"train", "--data", files.at("photos"), "--out", run, "--set", "training.epochs=1"}).status, 0);
  const auto model = files.at("any.priornet");
  const auto strict = files.at("strict.priornet");
  ASSERT_EQ(run_tool({"calibrate", run, "--out", model}).status, 0);
  ASSERT_EQ(run_tool({"calibrate", run, "--out", strict, "--no-resize"}).status, 0);
  const auto small = small_images(3, 2).inputs;
  const auto image = files.file("one.png", encode_png(small[0])).string();
  const auto three = files.npy("three.npy", small);
  const auto large = files.file("large.png", encode_png(small[0].repeat({1, 2, 2}))).string();

  const auto named = lines_of(run_tool({"predict", model, image, "--format", "jsonl"}).out);
  const auto piped = run_process(
      {"/bin/sh", "-c", "cat \"$1\" | \"$2\" predict \"$3\" - --format jsonl", "sh", image, PRIORNET_TOOL_PATH, model});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(lines_of(piped.out).at(0)["p_value"], named.at(0)["p_value"]);
  const auto rows = lines_of(run_tool({"predict", model, three, "--format", "jsonl"}).out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["prediction"], named[0]["prediction"]);
  EXPECT_EQ(run_tool({"predict", model, large, image}).status, 0);
  const auto refused = run_tool({"predict", strict, large, image, "--format", "jsonl"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(lines_of(refused.out).at(0)["error"].get<std::string>().find("resizes nothing"), std::string::npos);
  EXPECT_TRUE(lines_of(refused.out).at(1).contains("verdict"));
}

TEST(Deploy, SaysWhatCalibrationLacks) {
  const PhotoFiles files(100);
  const auto run = files.at("run");
  ASSERT_EQ(run_tool({"train", "--data", files.at("photos"), "--out", run, "--set", "training.epochs=1",
                      "data.calibration_share=0"})
                .status,
            0);
  expect_failure(run_tool({"calibrate", run}),
                 run + ": kept no rows back for calibration: give --data a set that the run did not learn from");
  const auto few =
      run_tool({"calibrate", run, "--data", files.at("photos") + ",subset=15", "--out", files.at("m.priornet")});
  const auto told = [&](const Outcome& result, const std::string& what) {
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find(what), std::string::npos) << result.err;
  };
  told(few,
       "nothing will be rejected by differential_entropy: 15 inputs are too few for a rate of 0.05; 19 are needed: use "
       "more calibration inputs or a higher --false-alarm");
  told(run_tool({"calibrate", run, "--data", files.at("photos") + ",subset=40", "--out", files.at("m.priornet"),
                 "--per-class", "--false-alarm", "0.03"}),
       "--per-class changes nothing: some classes were predicted for too few inputs, even together (33 are needed), so "
       "all classes share the same thresholds. Use more calibration inputs");
  told(run_tool({"calibrate", run, "--data", files.at("photos") + ",subset=40", "--out", files.at("m.priornet"),
                 "--per-class", "--checkpoint", "best"}),
       "");
  const auto metrics = files.at("run/metrics.jsonl");
  std::ofstream(metrics, std::ios::trunc) << "";
  told(run_tool({"calibrate", run, "--data", files.at("photos") + ",subset=40", "--out", files.at("m.priornet")}),
       run + ": training did not finish: 0 of 1 epochs are done (train --resume goes on)");
  for (const auto* name : {"photos", "./photos/"}) {
    const auto same = run_tool({"calibrate", run, "--data", files.at(name), "--out", files.at("m.priornet")});
    EXPECT_NE(same.err.find("the run learnt from "), std::string::npos) << same.err;
  }
  const auto failed = run_tool({"calibrate", run, "--data", files.at("photos") + ",subset=30", "--out",
                                files.at("new.priornet"), "--check", files.at("nothing")});
  EXPECT_EQ(failed.status, 1);
  EXPECT_FALSE(fs::exists(files.at("new.priornet"))) << failed.err;
}

TEST(Deploy, RefusesANameThatNoServerCouldOffer) {
  const InputFiles files;
  const auto said = run_tool({"calibrate", (files / "").string(), "--name", "a/b"});
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(
      said.err,
      "priornet: --name: a/b has a slash: the name of a model must not have one (see priornet calibrate --help)\n");
}

TEST(Deploy, RefusesDamagedModels) {
  const InputFiles files;
  const auto model = files.text("m.priornet", std::string("\xff\0\0\0\0\0\0\0{", 9) + "\"cut\"");
  const auto said = run_tool({"predict", model, "x.png"});
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.err.find("m.priornet: is not a tensor file, or truncated"), std::string::npos) << said.err;
}

TEST(Deploy, ExportsASetAsOneFolderPerClass) {
  const PhotoFiles files(30);
  const auto out = files.at("exported");
  const auto exported = run_tool({"data", "export", files.at("photos") + ",first=12", out});
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(exported.out, "12 images written to " + out + ". This path now names a set.\n");
  EXPECT_EQ(run_tool({"data", "show", out, "--out", files.at("s.png")}).status, 0);
  EXPECT_EQ(run_tool({"data", "export", files.at("photos"), out}).err,
            "priornet: " + out + ": exists already and is not empty\n");
}

}  // namespace
}  // namespace priornet
