#include "learning/data/lmdb_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <priornet/uncertainty/errors.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "learning/data/lmdb_pages.h"

namespace priornet {
namespace {

[[noreturn]] void fail(const std::string& name, const char* reason) {
  throw DataError(fmt::format("{}: cannot be read: {}", name, reason));
}

class Descriptor {
 public:
  Descriptor(const std::string& name, int descriptor) : descriptor_(descriptor) {
    if (descriptor_ < 0) fail(name, std::strerror(errno));
  }
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

class Mapping {
 public:
  Mapping(const std::string& name, int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) fail(name, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail(name, "not a regular file");
    size_ = static_cast<size_t>(status.st_size);
    if (size_ == 0) throw DataError(fmt::format("{}: is empty", name));
    address_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (address_ == MAP_FAILED) fail(name, std::strerror(errno));
  }
  ~Mapping() { ::munmap(address_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(address_), size_}; }

 private:
  void* address_ = nullptr;
  size_t size_ = 0;
};

// An environment with one reading transaction and a cursor on its only database.
class Environment {
 public:
  Environment(std::string name, const std::string& path, size_t size) : name_(std::move(name)) {
    try {
      require(mdb_env_create(&environment_));
      require(mdb_env_set_mapsize(environment_, size));
      require(mdb_env_open(environment_, path.c_str(), MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK, 0));
      require(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction_));
      MDB_dbi database = 0;
      require(mdb_dbi_open(transaction_, nullptr, 0, &database));
      require(mdb_cursor_open(transaction_, database, &cursor_));
    } catch (...) {
      close();
      throw;
    }
  }
  ~Environment() { close(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  void visit(const RecordVisitor& visitor) {
    MDB_val key{};
    MDB_val value{};
    while (true) {
      const int status = mdb_cursor_get(cursor_, &key, &value, MDB_NEXT);
      if (status == MDB_NOTFOUND) return;
      require(status);
      visitor({static_cast<const char*>(key.mv_data), key.mv_size},
              {static_cast<const char*>(value.mv_data), value.mv_size});
    }
  }

 private:
  void require(int status) const {
    if (status != MDB_SUCCESS) fail(name_, mdb_strerror(status));
  }
  void close() {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    if (environment_ != nullptr) mdb_env_close(environment_);
  }

  std::string name_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
};

void visit_open(const std::string& name, const Descriptor& file, const RecordVisitor& visitor) {
  size_t size = 0;
  {
    const Mapping mapping(name, file.get());
    size = mapping.bytes().size();
    check_lmdb_pages(name, mapping.bytes());
  }
  // By its descriptor, so that what was checked is what is read.
  Environment(name, fmt::format("/proc/self/fd/{}", file.get()), size).visit(visitor);
}

}  // namespace

void visit_lmdb(const std::filesystem::path& file, const RecordVisitor& visitor) {
  const auto name = file.string();
  visit_open(name, Descriptor(name, ::open(file.c_str(), O_RDONLY | O_CLOEXEC)), visitor);
}

void visit_lmdb(ByteStream& bytes, const RecordVisitor& visitor) {
  constexpr int64_t kMost = int64_t{8} << 30;
  const Descriptor memory(bytes.name(), ::memfd_create("lmdb", MFD_CLOEXEC));
  std::vector<char> block(size_t{1} << 20);
  while (const auto got = bytes.read(block.data(), block.size())) {
    if (bytes.offset() > kMost)
      throw DataError(
          fmt::format("{}: goes on after {} bytes, the most that is held in memory; unpack it", bytes.name(), kMost));
    for (size_t done = 0; done < got;) {
      const auto written = ::write(memory.get(), block.data() + done, got - done);
      if (written < 0 && errno != EINTR) fail(bytes.name(), std::strerror(errno));
      if (written > 0) done += static_cast<size_t>(written);
    }
  }
  visit_open(bytes.name(), memory, visitor);
}

}  // namespace priornet
