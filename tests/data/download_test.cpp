#include <gtest/gtest.h>
#include <priornet/data/fetch/download.h>
#include <priornet/data/files/checksum.h>
#include <testing/http_server.h>
#include <testing/made_up_bytes.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <algorithm>
#include <optional>

namespace priornet {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;
using Froms = std::vector<int64_t>;

DownloadOptions quick() {
  DownloadOptions options;
  options.stall_timeout = 300ms;
  options.pause = 0ms;
  return options;
}

/// A file of made-up bytes, a server that has it, and an empty data root.
class Download : public testing::Test {
 protected:
  void serve(HttpServer::Script script) {
    server.emplace(std::move(script));
    file.urls = {server->url("/source/file.bin")};
  }

  bool get(DownloadOptions options = quick()) {
    return Downloader(std::move(options)).get(file, folder / "", progress);
  }

  void expect_failure(const std::string& reason, DownloadOptions options = quick()) {
    EXPECT_THROWS(NoSourceError, get(std::move(options)),
                  ("set/file.bin: no source has it: " + file.urls[0] + ": " + reason).c_str());
  }

  void part(const std::string& already) const {
    std::filesystem::create_directories(folder / "set");
    folder.file("set/file.bin.part", already);
  }

  Names names() const {
    Names all;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "set"))
      all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

  Froms froms() const {
    Froms all;
    for (const auto& request : server->requests()) all.push_back(request.from);
    return all;
  }

  void expect_whole(const Names& beside = {}) const {
    EXPECT_EQ(bytes_of(folder / "set/file.bin"), bytes);
    Names expected{"file.bin"};
    expected.insert(expected.end(), beside.begin(), beside.end());
    EXPECT_EQ(names(), expected);
  }

  const TemporaryFolder folder;
  NoProgress progress;
  const std::string bytes = random_bytes(300'000);
  KnownFile file{"set/file.bin", 300'000, sha256_of_bytes(bytes), "", {}};
  std::optional<HttpServer> server;
};

HttpTestReply whole(const std::string& bytes) {
  HttpTestReply reply;
  reply.body = bytes;
  return reply;
}

HttpTestReply broken(const std::string& bytes, int64_t after) {
  auto reply = whole(bytes);
  reply.break_after = after;
  return reply;
}

HttpTestReply status(int code) {
  HttpTestReply reply;
  reply.status = code;
  reply.body = "<html>an error page</html>";
  return reply;
}

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

// Its size unknown, a whole part is only known as such by the server's 416.
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

TEST_F(Download, SetsWrongBytesAsideAndTriesTheNextSource) {
  const auto wrong = random_bytes(300'000, 2);
  serve([&](const auto& request) { return whole(request.path == "/mirror/file.bin" ? bytes : wrong); });
  file.urls.push_back(server->url("/mirror/file.bin"));
  get();
  expect_whole({"file.bin.bad"});
  EXPECT_EQ(bytes_of(folder / "set/file.bin.bad"), wrong);
}

TEST_F(Download, NamesBothChecksumsOfWrongBytes) {
  const auto wrong = random_bytes(300'000, 2);
  serve([&](const auto&) { return whole(wrong); });
  expect_failure("has SHA-256 " + sha256_of_bytes(wrong) + ", " + file.sha256 + " expected");
  EXPECT_EQ(names(), Names{"file.bin.bad"});
}

TEST_F(Download, ReplacesAFileThatIsNotTheRightOneAndKeepsItAside) {
  std::filesystem::create_directories(folder / "set");
  folder.file("set/file.bin", "damaged");
  serve([&](const auto&) { return whole(bytes); });
  get();
  expect_whole({"file.bin.bad"});
  EXPECT_EQ(bytes_of(folder / "set/file.bin.bad"), "damaged");
}

TEST_F(Download, SaysEverySourceWithItsReason) {
  serve([&](const auto& request) { return status(request.path == "/source/file.bin" ? 404 : 403); });
  file.urls.push_back(server->url("/mirror"));
  expect_failure("HTTP status 404; " + file.urls[1] + ": HTTP status 403");
  EXPECT_EQ(names(), Names{});
}

TEST_F(Download, TriesAgainWhenTheServerIsBusy) {
  int count = 0;
  serve([&](const auto&) { return ++count < 3 ? status(503) : whole(bytes); });
  get();
  expect_whole();
}

// A page of a captive portal has status 200 too: its length gives it away before it costs us what came.
TEST_F(Download, RefusesAnotherLengthBeforeItTouchesThePart) {
  part(bytes.substr(0, 1000));
  serve([&](const auto&) {
    auto reply = whole("<html>please sign in</html>");
    reply.serves_ranges = false;
    return reply;
  });
  expect_failure("has 27 bytes, 300000 expected");
  EXPECT_EQ(bytes_of(folder / "set/file.bin.part"), bytes.substr(0, 1000));
}

TEST_F(Download, WritesNoMoreThanTheFileHas) {
  serve([&](const auto&) {
    auto reply = whole(bytes + random_bytes(2'000'000));
    reply.says_length = false;
    return reply;
  });
  expect_failure("sends more than the 300000 bytes that are taken");
  EXPECT_EQ(names(), Names{});
}

TEST_F(Download, BoundsAFileOfUnknownSize) {
  file.size = 0;
  auto options = quick();
  options.largest = 200'000;
  serve([&](const auto&) { return whole(bytes); });
  expect_failure("has 300000 bytes, more than the 200000 that are taken", options);
  serve([&](const auto&) {
    auto reply = whole(bytes);
    reply.says_length = false;
    return reply;
  });
  expect_failure("sends more than the 200000 bytes that are taken", options);
}

TEST_F(Download, NoticesThatLessCameThanTheServerClaimed) {
  serve([&](const auto&) {
    auto reply = whole(bytes.substr(0, 299'990));
    reply.serves_ranges = false;
    reply.claimed_length = 300'000;
    return reply;
  });
  auto options = quick();
  options.retries = 0;
  expect_failure("transfer closed with 10 bytes remaining to read", options);
}

TEST_F(Download, NoticesAnEarlyEndWithoutALength) {
  serve([&](const auto& request) {
    auto reply = broken(bytes, request.from < 0 ? 1000 : 300'000);
    reply.says_length = false;
    return reply;
  });
  get();
  expect_whole();
  EXPECT_EQ(froms(), (Froms{-1, 1000}));
}

TEST_F(Download, FollowsARedirectButNotForEver) {
  serve([&](const auto& request) {
    if (request.path == "/there") return whole(bytes);
    auto reply = status(302);
    reply.location = request.path == "/source/file.bin" ? "/there" : "/loop";
    return reply;
  });
  get();
  expect_whole();
  std::filesystem::remove_all(folder / "set");
  file.urls = {server->url("/loop")};
  expect_failure("Maximum (8) redirects followed");
}

TEST_F(Download, SpeaksHttpOnly) {
  const auto elsewhere = folder.file("elsewhere.bin", bytes);
  file.urls = {"file://" + elsewhere.string()};
  expect_failure("Protocol \"file\" not supported or disabled in libcurl");
  serve([&](const auto&) {
    auto reply = status(302);
    reply.location = "file://" + elsewhere.string();
    return reply;
  });
  expect_failure("Protocol \"file\" not supported or disabled in libcurl");
}

TEST_F(Download, TriesAnUnreachableHostOnlyOnce) {
  file.urls = {"http://no-such-host.invalid/a", "http://no-such-host.invalid/b"};
  expect_failure("Could not resolve host: no-such-host.invalid; " + file.urls[1] +
                 ": not tried, the host cannot be reached");
}

TEST_F(Download, AsksTheMirrorFirst) {
  serve([&](const auto& request) { return request.path == "/mirror/set/file.bin" ? whole(bytes) : status(404); });
  auto options = quick();
  options.mirror = server->url("/mirror");
  get(options);
  expect_whole();
  EXPECT_EQ(server->requests().size(), 1u);
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

TEST_F(Download, RefusesToBeginWhatTheDiskCannotHold) {
  file.size = int64_t{1} << 60;
  serve([&](const auto&) { return whole(bytes); });
  EXPECT_THROW(get(), DataError);
  EXPECT_EQ(server->requests().size(), 0u);
}

}  // namespace
}  // namespace priornet
