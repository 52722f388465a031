#pragma once

#include <stdexcept>

// What the library throws. A message says what was wanted, what was found and where, in one line.

namespace priornet {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A function was called with arguments it cannot take: a shape, a dtype, a range.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// A file or a data set is not what it should be.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A configuration names something unknown or impossible.
class ConfigError : public Error {
 public:
  using Error::Error;
};

}  // namespace priornet
