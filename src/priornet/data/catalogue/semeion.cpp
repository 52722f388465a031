#include <priornet/data/catalogue/families.h>
#include <priornet/data/formats/semeion.h>

namespace priornet {

CatalogueEntry semeion_set() {
  CatalogueEntry entry;
  entry.name = "semeion";
  entry.title = "SEMEION: handwritten digits, 16x16 black and white, white on black";
  entry.homepage = "https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit";
  entry.terms = "UCI Machine Learning Repository: cite it and the Semeion Research Center of Sciences of Communication";
  entry.files = {{"semeion/semeion.data",
                  2'889'702,
                  "f43228ae3da5ea6a3c95069d53450b86166770e3b719dcc333182128fe08d4b1",
                  "",
                  {"https://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data",
                   "http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data"}}};
  entry.locations = {{"semeion", {"semeion.data"}}, {"SEMEION", {"semeion.data"}}, {".", {"semeion.data"}}};
  entry.parts = {{"all", 1'593, {"semeion.data"}, digit_names(), std::nullopt, [](const auto& location, const auto&) {
                    return read_semeion(location / "semeion.data");
                  }}};
  entry.splits = {whole_part(entry.parts[0], "the whole file")};
  return entry;
}

}  // namespace priornet
