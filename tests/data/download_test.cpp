#include <testing/download_fixture.h>

namespace priornet {
namespace {

using Names = std::vector<std::string>;
using Froms = std::vector<int64_t>;
using Download = DownloadTest;

TEST_F(Download, GetsAFileOnceAndOnlyOnce) {
  serve([&](const auto&) { return whole(bytes); });
  EXPECT_TRUE(get());
  expect_whole();
  EXPECT_FALSE(get());
  EXPECT_EQ(froms(), Froms{-1});
  EXPECT_EQ(server->requests()[0].path, "/source/file.bin");
}

TEST_F(Download, TakesAnMd5AndAnUnknownSize) {
  serve([&](const auto&) { return whole(bytes); });
  Checksum md5(Digest::kMd5);
  md5.add(bytes);
  file = {"set/file.bin", 0, "", md5.hexadecimal(), file.urls};
  EXPECT_TRUE(get());
  expect_whole();
}

TEST_F(Download, GoesOnWhereItBrokeOffAtAnyByte) {
  for (const int64_t at : {1, 1023, 150'000, 299'999, 300'000}) {
    std::filesystem::remove_all(folder / "set");
    part(bytes.substr(0, static_cast<size_t>(at)));
    serve([&](const auto&) { return whole(bytes); });
    get();
    expect_whole();
    EXPECT_EQ(froms(), at < 300'000 ? Froms{at} : Froms{});
  }
}

TEST_F(Download, GoesOnAtTheSameSourceWhenTheConnectionBreaks) {
  serve([&](const auto&) { return broken(bytes, 70'000); });
  get();
  expect_whole();
  EXPECT_EQ(froms(), (Froms{-1, 70'000, 140'000, 210'000, 280'000}));
}

TEST_F(Download, KeepsWhatCameWhenTheServerBreaksTooOften) {
  serve([&](const auto&) { return broken(bytes, 10); });
  auto options = quick();
  options.retries = 2;
  EXPECT_THROW(get(options), NoSourceError);
  EXPECT_EQ(bytes_of(folder / "set/file.bin.part"), bytes.substr(0, 30));
  EXPECT_EQ(names(), Names{"file.bin.part"});
}

TEST_F(Download, StartsOverWhereRangesAreIgnored) {
  part(bytes.substr(0, 1000));
  serve([&](const auto&) {
    auto reply = whole(bytes);
    reply.serves_ranges = false;
    return reply;
  });
  get();
  expect_whole();
  EXPECT_EQ(froms(), Froms{1000});
}

TEST_F(Download, StartsOverWhenTheRemoteFileIsNotTheOneBegunWith) {
  part("an older version of the file");
  serve([&](const auto&) { return whole(bytes); });
  get();
  expect_whole();
  EXPECT_EQ(froms(), (Froms{28, -1}));
}

TEST_F(Download, StartsOverFromAPartThatIsLongerThanTheFile) {
  part(bytes + "more");
  serve([&](const auto&) { return whole(bytes); });
  get();
  expect_whole();
  EXPECT_EQ(froms(), Froms{-1});
}

TEST_F(Download, StartsOverWhenTheServerHasNoSuchRange) {
  part(bytes.substr(0, 5000));
  serve([&](const auto& request) { return request.from > 0 ? status(416) : whole(bytes); });
  get();
  expect_whole();
  EXPECT_EQ(froms(), (Froms{5000, -1}));
}

// If the size is not known, only the server's status 416 tells that the part is whole.
TEST_F(Download, TakesAWholePartOfUnknownSizeForWhatItIs) {
  file.size = 0;
  part(bytes);
  serve([&](const auto&) { return whole(bytes); });
  get();
  expect_whole();
  EXPECT_EQ(froms(), Froms{300'000});
}

TEST_F(Download, NeverGoesOnWithoutAChecksum) {
  file.sha256.clear();
  part("other bytes");
  serve([&](const auto&) { return whole(bytes); });
  get();
  expect_whole();
  EXPECT_EQ(froms(), Froms{-1});
}

TEST_F(Download, EndsAStalledTransferAndKeepsWhatCame) {
  serve([&](const auto&) {
    auto reply = broken(bytes, 100'000);
    reply.stalls = true;
    return reply;
  });
  auto options = quick();
  options.retries = 0;
  expect_failure("stalled for 0.3 s", options);
  EXPECT_EQ(bytes_of(folder / "set/file.bin.part"), bytes.substr(0, 100'000));
}

struct Impatient final : Progress {
  void report(std::string_view task, int64_t done, int64_t) override {
    EXPECT_EQ(task, "fetching file.bin");
    if (done > 50'000) throw std::runtime_error("enough");
  }
};

TEST_F(Download, StopsWhenTheProgressThrowsAndGoesOnLater) {
  serve([&](const auto&) { return whole(bytes); });
  Impatient impatient;
  EXPECT_THROW(Downloader(quick()).get(file, folder / "", impatient), std::runtime_error);
  const auto came = std::filesystem::file_size(folder / "set/file.bin.part");
  EXPECT_GT(came, 50'000u);
  EXPECT_LT(came, 300'000u);
  get();
  expect_whole();
  EXPECT_EQ(froms(), (Froms{-1, static_cast<int64_t>(came)}));
}

}  // namespace
}  // namespace priornet
