#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/lsun.h>

namespace priornet {

CatalogueEntry lsun_set() {
  CatalogueEntry entry;
  entry.name = "lsun";
  entry.title = "LSUN: photographs of scenes, colour, of many sizes, resized to 32x32 on reading";
  entry.homepage = "https://github.com/fyu/lsun";
  entry.terms = "No licence named; the photographs belong to others, and the authors ask to cite Yu et al., 2015";
  entry.files = {{"lsun/test_lmdb.zip", 0, "", "", {"http://dl.yf.io/lsun/scenes/test_lmdb.zip"}}};
  entry.locations = {{"lsun/test_lmdb", {"data.mdb"}},
                     {"test_lmdb", {"data.mdb"}},
                     {"lsun/test_lmdb.zip", {}},
                     {"test_lmdb.zip", {}},
                     {"lsun/test", {}}};
  // The images have many sizes; the paper's networks take 32x32.
  entry.parts = {{"test",
                  10'000,
                  {},
                  {},
                  ResizeOptions{32, 32, Resampling::kBilinear, true},
                  [](const auto& location, const auto& resize) {
                    return read_lsun(location, {Channels::kRgb, resize});
                  }}};
  entry.splits = {whole_part(entry.parts[0], "the scene test set")};
  return entry;
}

}  // namespace priornet
