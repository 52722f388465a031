#include <fuzz/rejection.h>
#include "learning/sets/families.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return taken_or_refused([&] {
    const Dataset set{
        "set", torch::zeros({3, 1, 1, 1}, torch::kUInt8), torch::tensor({0, 1, 0}, torch::kInt64), {"a", "b"}, {}};
    const auto images = parse_image_list("list", text_of(data, size));
    const bool by_number = images.front().path.find("val_") != std::string::npos;
    const auto rows = by_number ? rows_by_number("list", images, set) : rows_by_class("list", images, set);
    check_dataset(select(set, rows));
  });
}
