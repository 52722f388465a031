#include "tool/report/page.h"

#include <gtest/gtest.h>

namespace priornet {
namespace {

// The test vectors of RFC 4648, and bytes beyond ASCII.
TEST(Base64, IsAsTheStandardHasIt) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace priornet
