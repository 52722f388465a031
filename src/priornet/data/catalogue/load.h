#pragma once

#include <priornet/core/errors.h>
#include <priornet/core/progress.h>
#include <priornet/data/catalogue/set_name.h>
#include <priornet/data/catalogue/store.h>

namespace priornet {

/// A set whose files are not there. It says where they should be, how to get them and how to lay them out by hand.
class AbsentSet : public DataError {
 public:
  AbsentSet(const std::string& message, std::string remedy) : DataError(message), remedy_(std::move(remedy)) {}

  /// How to get it, on any machine.
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

struct LoadOptions {
  std::filesystem::path root = data_root();
  bool prepared_copies = true;   ///< use those that are there, write those that are not
  Progress* progress = nullptr;  ///< hears of sets that are read from their originals
};

/// The set of that name (set_name.h), from its prepared copy or from its original files, with its split taken and the
/// modifiers applied. Dataset::name is `name`.
/// AbsentSet; DataError: a name that nothing has, files that are not as they should be, another number of images than
/// the catalogue says, a modifier that the set cannot take.
Dataset load_set(const std::string& name, const LoadOptions& options = {});

/// The same of a name that was parsed before.
Dataset load_set(const SetName& name, const LoadOptions& options = {});

}  // namespace priornet
