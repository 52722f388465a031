#pragma once

#include <gtest/gtest.h>

/// The statement throws exactly this type with exactly this message.
#define EXPECT_THROWS(type, statement, message)                       \
  do {                                                                \
    try {                                                             \
      statement;                                                      \
      ADD_FAILURE() << "expected " #type ", nothing was thrown";      \
    } catch (const type& error) {                                     \
      EXPECT_STREQ(error.what(), message);                            \
    } catch (const std::exception& error) {                           \
      ADD_FAILURE() << "expected " #type ", found: " << error.what(); \
    }                                                                 \
  } while (false)
