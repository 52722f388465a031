#include "learning/base/names.h"

#include <clocale>

namespace priornet {
namespace {

TEST(LowerCase, DoesNotDependOnTheLocale) {
  EXPECT_EQ(lower_case("PHOTO.GIF"), "photo.gif");
  const std::string before = std::setlocale(LC_CTYPE, nullptr);
  if (std::setlocale(LC_CTYPE, "tr_TR.UTF-8") == nullptr) GTEST_SKIP() << "needs the locale tr_TR.UTF-8";
  const auto in_turkish = lower_case("PHOTO.GIF");
  std::setlocale(LC_CTYPE, before.c_str());
  EXPECT_EQ(in_turkish, "photo.gif");
}

TEST(IsUtf8, KnowsTextFromOtherBytes) {
  for (const auto* text : {"", "a\n\x7f", "gr\u00f6\u00dfe", "\u20ac \U0001f600"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const auto* bytes : {"a\x80", "\xc0\x80", "gr\xf6", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(is_utf8(bytes)) << printable(bytes);
}

TEST(Printable, LeavesTextAsItIs) {
  for (const auto* text : {"", "a b/c.png", "Größe µ 猫 🙂", "tab\\t is two characters"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(printable("a\nb\r\tc", "\n\t"), "a\nb\\r\tc");
  EXPECT_EQ(printable("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b") << "an escape of one byte, in Latin-1";
  EXPECT_EQ(printable("exe\xe2\x80\xaegpj"), "exe\\u202egpj") << "written from right to left";
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a") << "a line end in a longer form than it has";
  EXPECT_EQ(printable("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
}

TEST(AddNewNames, AddsEachOnce) {
  std::vector<std::string> names{"knn"};
  add_new_names(names, {"vim", "knn", "gen", "vim"});
  EXPECT_EQ(names, (std::vector<std::string>{"knn", "vim", "gen"}));
}

}  // namespace
}  // namespace priornet
