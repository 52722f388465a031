#pragma once

#include <priornet/learning/catalogue.h>

// The entries of the catalogue, one function per set or family.

namespace priornet {

std::vector<CatalogueEntry> mnist_like_sets();  ///< mnist, fashion-mnist, kmnist
CatalogueEntry emnist_set();
std::vector<CatalogueEntry> cifar_sets();
CatalogueEntry cifar10h_set();
CatalogueEntry svhn_set();
CatalogueEntry omniglot_set();
CatalogueEntry semeion_set();
CatalogueEntry tiny_imagenet_set();
CatalogueEntry lsun_set();
CatalogueEntry openood_set();

/// "0", ..., "9".
std::vector<std::string> digit_names();

/// A split that is a whole part and has its name.
Split whole_part(const SetPart& part, std::string from);

}  // namespace priornet
