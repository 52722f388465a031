#include <testing/download_fixture.h>

// Sources that send something else, or nothing.

namespace priornet {
namespace {

using Names = std::vector<std::string>;
using Froms = std::vector<int64_t>;
using DownloadFaults = DownloadTest;

TEST_F(DownloadFaults, SetsWrongBytesAsideAndTriesTheNextSource) {
  const auto wrong = random_bytes(300'000, 2);
  serve([&](const auto& request) { return whole(request.path == "/mirror/file.bin" ? bytes : wrong); });
  file.urls.push_back(server->url("/mirror/file.bin"));
  get();
  expect_whole({"file.bin.bad"});
  EXPECT_EQ(bytes_of(folder / "set/file.bin.bad"), wrong);
}

TEST_F(DownloadFaults, NamesBothChecksumsOfWrongBytes) {
  const auto wrong = random_bytes(300'000, 2);
  serve([&](const auto&) { return whole(wrong); });
  expect_failure("has SHA-256 " + sha256_of_bytes(wrong) + ", " + file.sha256 + " expected");
  EXPECT_EQ(names(), Names{"file.bin.bad"});
}

TEST_F(DownloadFaults, ReplacesAFileThatIsNotTheRightOneAndKeepsItAside) {
  std::filesystem::create_directories(folder / "set");
  folder.file("set/file.bin", "damaged");
  serve([&](const auto&) { return whole(bytes); });
  get();
  expect_whole({"file.bin.bad"});
  EXPECT_EQ(bytes_of(folder / "set/file.bin.bad"), "damaged");
}

TEST_F(DownloadFaults, SaysEverySourceWithItsReason) {
  serve([&](const auto& request) { return status(request.path == "/source/file.bin" ? 404 : 403); });
  file.urls.push_back(server->url("/mirror"));
  expect_failure("HTTP status 404; " + file.urls[1] + ": HTTP status 403");
  EXPECT_EQ(names(), Names{});
}

TEST_F(DownloadFaults, TriesAgainWhenTheServerIsBusy) {
  int count = 0;
  serve([&](const auto&) { return ++count < 3 ? status(503) : whole(bytes); });
  get();
  expect_whole();
}

// The page of a captive portal has status 200 too. Its length is wrong, so the download refuses it and keeps the bytes
// that came before.
TEST_F(DownloadFaults, RefusesAnotherLengthBeforeItTouchesThePart) {
  part(bytes.substr(0, 1000));
  serve([&](const auto&) {
    auto reply = whole("<html>please sign in</html>");
    reply.serves_ranges = false;
    return reply;
  });
  expect_failure("has 27 bytes, 300000 expected");
  EXPECT_EQ(bytes_of(folder / "set/file.bin.part"), bytes.substr(0, 1000));
}

TEST_F(DownloadFaults, RefusesBytesFromAnotherPlaceThanItAskedFor) {
  part(bytes.substr(0, 1000));
  serve([&](const auto&) {
    auto reply = whole(bytes);
    reply.range_off_by = 5;
    return reply;
  });
  expect_failure("HTTP status 206 without the Content-Range that was asked for");
  EXPECT_EQ(bytes_of(folder / "set/file.bin.part"), bytes.substr(0, 1000));
}

TEST_F(DownloadFaults, WritesNoMoreThanTheFileHas) {
  serve([&](const auto&) {
    auto reply = whole(bytes + random_bytes(2'000'000));
    reply.says_length = false;
    return reply;
  });
  expect_failure("sends more than the 300000 bytes allowed");
  EXPECT_EQ(names(), Names{});
}

TEST_F(DownloadFaults, BoundsAFileOfUnknownSize) {
  file.size = 0;
  auto options = quick();
  options.largest = 200'000;
  serve([&](const auto&) { return whole(bytes); });
  expect_failure("has 300000 bytes, more than the 200000 allowed", options);
  serve([&](const auto&) {
    auto reply = whole(bytes);
    reply.says_length = false;
    return reply;
  });
  expect_failure("sends more than the 200000 bytes allowed", options);
}

TEST_F(DownloadFaults, NoticesThatLessCameThanTheServerClaimed) {
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

TEST_F(DownloadFaults, NoticesAnEarlyEndWithoutALength) {
  serve([&](const auto& request) {
    auto reply = broken(bytes, request.from < 0 ? 1000 : 300'000);
    reply.says_length = false;
    return reply;
  });
  get();
  expect_whole();
  EXPECT_EQ(froms(), (Froms{-1, 1000}));
}

TEST_F(DownloadFaults, FollowsARedirectButNotForEver) {
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

TEST_F(DownloadFaults, SpeaksHttpOnly) {
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

TEST_F(DownloadFaults, TriesAnUnreachableHostOnlyOnce) {
  file.urls = {"http://no-such-host.invalid/a", "http://no-such-host.invalid/b"};
  expect_failure("Could not resolve host: no-such-host.invalid; " + file.urls[1] +
                 ": not tried: its host cannot be reached");
}

TEST_F(DownloadFaults, AsksTheMirrorFirst) {
  serve([&](const auto& request) { return request.path == "/mirror/set/file.bin" ? whole(bytes) : status(404); });
  auto options = quick();
  options.mirror = server->url("/mirror");
  get(options);
  expect_whole();
  EXPECT_EQ(server->requests().size(), 1u);
}

TEST_F(DownloadFaults, RefusesToBeginWhatTheDiskCannotHold) {
  file.size = int64_t{1} << 60;
  serve([&](const auto&) { return whole(bytes); });
  EXPECT_THROW(get(), DataError);
  EXPECT_EQ(server->requests().size(), 0u);
}

}  // namespace
}  // namespace priornet
