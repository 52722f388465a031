#include "learning/data/lmdb_pages.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

// The layout, from lmdb's mdb.c (its types of that name in brackets): a page (MDB_page) opens with 16 bytes: number,
// padding, kind, and either the ends of its table of nodes and of its free space or its count of pages. A node
// (MDB_node) opens with 8 bytes: a size or page number in two halves, flags, the length of its key. Pages 0 and 1 hold
// a state of the whole (MDB_meta) each, the newer of which counts.

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
      throw DataError(fmt::format("{}: holds {} records, wanted {} as it says itself", name_, entries_, state.entries));
  }

 private:
  template <class Number>
  uint64_t number(uint64_t at) const {
    Number value;
    std::memcpy(&value, file_.data() + at, sizeof value);
    return value;
  }

  [[noreturn]] void fail(uint64_t page, const std::string& what) const {
    throw DataError(fmt::format("{}: page {} (from 0) of the LMDB {}", name_, page, what));
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
      fail(page, fmt::format("is of version {}, {} is read", number<uint32_t>(meta + 4), kVersion));
    const auto main = meta + 72;  // after the tree of free pages, whose first number is the page size
    return {number<uint32_t>(meta + 24), number<uint16_t>(main + 4),  number<uint16_t>(main + 6),
            number<uint64_t>(main + 32), number<uint64_t>(main + 40), number<uint64_t>(meta + 120),
            number<uint64_t>(meta + 128)};
  }

  // Takes `count` pages for the record at hand.
  void take(uint64_t page, uint64_t count) {
    if (page >= seen_.size() || count > seen_.size() - page)
      fail(page, fmt::format("is not in the file, which ends with page {}", seen_.size() - 1));
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
    // A branch has two ways to go, or liblmdb gives up the process.
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
      if (end > page_size_) fail(page, fmt::format("has a node at byte {} that goes on to {}", offset, end));
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
      fail(page, fmt::format("has a node of kind {:#x}, which is no plain value", flags));
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

}  // namespace priornet
