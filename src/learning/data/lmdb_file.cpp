#include "learning/data/lmdb_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <priornet/uncertainty/errors.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

// The layout, from lmdb's mdb.c (its type names in brackets): a page (MDB_page) opens with 16 bytes: number, padding,
// kind, and either the ends of its table of nodes and of its free space or its count of pages. A node (MDB_node) opens
// with 8 bytes: a size or page number in two halves, flags, the length of its key. Pages 0 and 1 each hold a state of
// the whole file (MDB_meta); the newer one is valid.

namespace priornet {
namespace {

constexpr uint64_t kPageHeader = 16;
constexpr uint64_t kNodeHeader = 8;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8, kDirty = 16;
constexpr uint16_t kLargeValue = 1;
constexpr uint64_t kDeepest = 32;
constexpr uint64_t kMetaEnd = kPageHeader + 136;

struct State {
  uint64_t page_size, flags, depth, entries, root, last_page, transaction;
};

class Pages {
 public:
  Pages(const std::string& name, std::string_view file) : name_(name), file_(file) {}

  void check() {
    const auto first = read_state(0, 0);
    page_size_ = first.page_size;
    if (!std::has_single_bit(page_size_) || page_size_ < 256 || page_size_ > 32768)
      fail(0, fmt::format("claims pages of {} bytes", page_size_));
    const auto second = read_state(1, page_size_);
    if (second.page_size != page_size_) fail(1, "claims pages of another size than page 0");
    const auto& state = first.transaction < second.transaction ? second : first;
    if (state.last_page < 1 || state.last_page >= file_.size() / page_size_)
      throw DataError(fmt::format("{}: ends at byte {}, before the end of its last page, {} of {} bytes each", name_,
                                  file_.size(), state.last_page, page_size_));
    if (state.flags != 0) fail(0, "holds a database of another kind than plain keys and values");
    seen_.assign(state.last_page + 1, false);
    seen_[0] = seen_[1] = true;
    if (state.root == kNoPage) return;
    if (state.depth < 1 || state.depth > kDeepest) fail(0, fmt::format("claims a tree {} deep", state.depth));
    walk(state.root, state.depth);
    if (entries_ != state.entries)
      throw DataError(fmt::format("{}: holds {} records, but its header says {}", name_, entries_, state.entries));
  }

 private:
  template <class Number>
  uint64_t number(uint64_t at) const {
    Number value;
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }

  [[noreturn]] void fail(uint64_t page, const std::string& what) const {
    throw DataError(fmt::format("{}: page {} (counted from 0) of the LMDB {}", name_, page, what));
  }

  State read_state(uint64_t page, uint64_t at) const {
    constexpr uint64_t kMagic = 0xBEEFC0DE;
    constexpr uint64_t kVersion = 1;
    if (file_.size() < at + kMetaEnd)
      throw DataError(fmt::format("{}: ends at byte {}, within page {} of an LMDB", name_, file_.size(), page));
    const auto meta = at + kPageHeader;
    if ((number<uint16_t>(at + 10) & kMeta) == 0 || number<uint32_t>(meta) != kMagic)
      throw DataError(fmt::format("{}: should be an LMDB data file, found no such header at byte {}", name_, at));
    if (number<uint32_t>(meta + 4) != kVersion)
      fail(page, fmt::format("has version {}; only version {} can be read", number<uint32_t>(meta + 4), kVersion));
    const auto main = meta + 72;  // after the tree of free pages, whose first number is the page size
    return {number<uint32_t>(meta + 24), number<uint16_t>(main + 4),  number<uint16_t>(main + 6),
            number<uint64_t>(main + 32), number<uint64_t>(main + 40), number<uint64_t>(meta + 120),
            number<uint64_t>(meta + 128)};
  }

  // Takes `count` pages for the current record.
  void take(uint64_t page, uint64_t count) {
    if (page >= seen_.size() || count > seen_.size() - page)
      fail(page, fmt::format("is not in the file; the last page is {}", seen_.size() - 1));
    for (auto each = page; each < page + count; ++each) {
      if (seen_[each]) fail(each, "serves twice");
      seen_[each] = true;
    }
  }

  void check_header(uint64_t page, uint16_t kind) const {
    const auto at = page * page_size_;
    if (number<uint64_t>(at) != page) fail(page, "bears another number");
    if ((number<uint16_t>(at + 10) & ~unsigned{kDirty}) != kind)
      fail(page, fmt::format("is of kind {:#x}, wanted {:#x}", number<uint16_t>(at + 10), kind));
  }

  void check_large_value(uint64_t page, uint64_t size) {
    const auto count = (kPageHeader - 1 + size) / page_size_ + 1;
    take(page, count);
    check_header(page, kOverflow);
  }

  // The tree below a page, which has `depth` levels.
  void walk(uint64_t page, uint64_t depth) {
    take(page, 1);
    const bool leaf = depth == 1;
    check_header(page, leaf ? kLeaf : kBranch);
    const auto at = page * page_size_;
    const auto lower = number<uint16_t>(at + 12);
    const auto upper = number<uint16_t>(at + 14);
    if (lower < kPageHeader || lower > upper || upper > page_size_ || lower % 2 != 0)
      fail(page, fmt::format("claims free space from byte {} to {}", lower, upper));
    const auto nodes = (lower - kPageHeader) / 2;
    // A branch must have at least two children, or liblmdb aborts the process.
    if (nodes < (leaf ? 1 : 2)) fail(page, fmt::format("holds {} nodes", nodes));
    for (uint64_t n = 0; n < nodes; ++n) {
      const auto offset = number<uint16_t>(at + kPageHeader + 2 * n);
      if (offset < upper || offset % 2 != 0 || offset + kNodeHeader > page_size_)
        fail(page, fmt::format("has node {} at byte {}", n, offset));
      check_node(page, offset, depth);
    }
  }

  void check_node(uint64_t page, uint64_t offset, uint64_t depth) {
    const auto node = page * page_size_ + offset;
    const auto low = number<uint32_t>(node);
    const auto flags = number<uint16_t>(node + 4);
    const auto value = offset + kNodeHeader + number<uint16_t>(node + 6);
    const auto require_inside = [&](uint64_t end) {
      if (end > page_size_) fail(page, fmt::format("has a node at byte {} that ends at byte {}", offset, end));
    };
    require_inside(value);
    if (depth > 1) return walk(low | flags << 32, depth - 1);
    ++entries_;
    if (flags == kLargeValue) {
      require_inside(value + sizeof(uint64_t));
      check_large_value(number<uint64_t>(page * page_size_ + value), low);
    } else if (flags == 0) {
      require_inside(value + low);
    } else {
      fail(page, fmt::format("has a node of kind {:#x}, which is not a plain value", flags));
    }
  }

  const std::string& name_;
  std::string_view file_;
  uint64_t page_size_ = 0;
  uint64_t entries_ = 0;
  std::vector<bool> seen_;
};

}  // namespace

void check_lmdb_pages(const std::string& name, std::string_view file) { Pages(name, file).check(); }

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
  // Opened by its descriptor, so that the file that is read is the one that was checked.
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
      throw DataError(fmt::format("{}: has more than the {} bytes allowed in memory; unpack it", bytes.name(), kMost));
    for (size_t done = 0; done < got;) {
      const auto written = ::write(memory.get(), block.data() + done, got - done);
      if (written < 0 && errno != EINTR) fail(bytes.name(), std::strerror(errno));
      if (written > 0) done += static_cast<size_t>(written);
    }
  }
  visit_open(bytes.name(), memory, visitor);
}

}  // namespace priornet
