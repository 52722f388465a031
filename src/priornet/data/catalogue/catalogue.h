#pragma once

#include <priornet/data/catalogue/entry.h>

#include <string_view>

namespace priornet {

/// The data sets known by name: those of the paper, and Fashion-MNIST, KMNIST and EMNIST.
const std::vector<CatalogueEntry>& catalogue();

bool in_catalogue(std::string_view name);

/// DataError where there is no such set, with the nearest name and all names.
const CatalogueEntry& find_entry(std::string_view name);

/// An empty name means the set's first split. DataError where there is no such split, with the names of those there
/// are.
const Split& find_split(const CatalogueEntry& entry, std::string_view name);

const SetPart& find_part(const CatalogueEntry& entry, std::string_view name);

}  // namespace priornet
