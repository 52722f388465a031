#include <gtest/gtest.h>
#include <priornet/learning/class_overlap.h>
#include <priornet/uncertainty/errors.h>
#include <testing/throws.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace priornet {
namespace {

using Names = std::vector<std::string>;

const Names kCifar10 = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
const Names kDigits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

TEST(OverlappingClasses, AreThoseOfEqualNames) {
  EXPECT_EQ(overlapping_classes({"lion", "tiger", "bee"}, {"bee", "tiger"}), (Names{"tiger", "bee"}));
  EXPECT_EQ(overlapping_classes({"lion"}, {"tiger"}), Names{});
  EXPECT_EQ(overlapping_classes({}, {"tiger"}), Names{});
}

TEST(OverlappingClasses, LookPastCaseSpacesAndPlurals) {
  const Names ours = {"lawn_mower", "Ice cream", "foxes", "Berries", "bus", "grass"};
  EXPECT_EQ(overlapping_classes(ours, {"lawn mower", "ICE-CREAM", "fox", "berry", "buses", "gra"}),
            (Names{"lawn_mower", "Ice cream", "foxes", "Berries", "bus"}));
}

TEST(OverlappingClasses, TakeAnyOfAClasssNames) {
  const Names wordnet = {"n02395406 hog, pig, grunter, squealer, Sus scrofa",
                         "n02509815 lesser panda, panda, cat bear"};
  EXPECT_EQ(overlapping_classes(wordnet, {"pig", "bear"}), Names{wordnet[0]});
}

// The 22 that TinyImageNet shares with CIFAR-10, and neighbours that are none of CIFAR-10's classes.
TEST(OverlappingClasses, KnowTinyImageNetsAgainstCifar10s) {
  const Names shared = {"n02123045 tabby, tabby cat",
                        "n02123394 Persian cat",
                        "n02124075 Egyptian cat",
                        "n02085620 Chihuahua",
                        "n02094433 Yorkshire terrier",
                        "n02099601 golden retriever",
                        "n02099712 Labrador retriever",
                        "n02106662 German shepherd, German shepherd dog, German police dog, alsatian",
                        "n02113799 standard poodle",
                        "n01641577 bullfrog, Rana catesbeiana",
                        "n01644900 tailed frog, bell toad, ribbed toad, tailed toad, Ascaphus trui",
                        "n01855672 goose",
                        "n02002724 black stork, Ciconia nigra",
                        "n02056570 king penguin, Aptenodytes patagonica",
                        "n02058221 albatross, mollymawk",
                        "n02814533 beach wagon, station wagon, wagon, estate car, beach waggon",
                        "n03100240 convertible",
                        "n03670208 limousine, limo",
                        "n04285008 sports car, sport car",
                        "n03796401 moving van",
                        "n03977966 police van, police wagon, paddy wagon",
                        "n03662601 lifeboat"};
  const Names others = {"n02125311 cougar, puma, catamount, mountain lion, painter, panther, Felis concolor",
                        "n02509815 lesser panda, red panda, panda, bear cat, cat bear, Ailurus fulgens",
                        "n02423022 gazelle",
                        "n04146614 school bus",
                        "n03447447 gondola",
                        "n03393912 freight car",
                        "n04465501 tractor",
                        "n02843684 birdhouse"};
  ASSERT_EQ(shared.size(), 22u);
  auto all = shared;
  all.insert(all.end(), others.begin(), others.end());
  EXPECT_EQ(overlapping_classes(all, kCifar10), shared);

  Names ids;
  for (const auto& name : all) ids.push_back(name.substr(0, 9));
  EXPECT_EQ(overlapping_classes(ids, kCifar10), Names(ids.begin(), ids.begin() + 22));
}

TEST(OverlappingClasses, AreKindsAndNotTheOtherWayRound) {
  EXPECT_EQ(overlapping_classes({"tabby"}, {"cat"}), Names{"tabby"});
  EXPECT_EQ(overlapping_classes({"cat"}, {"tabby"}), Names{});
}

TEST(OverlappingClasses, KnowCifar100sAgainstCifar10s) {
  EXPECT_EQ(overlapping_classes({"bus", "fox", "leopard", "lion", "pickup_truck", "rocket", "streetcar", "tank",
                                 "tiger", "tractor", "train", "wolf"},
                                kCifar10),
            Names{"pickup_truck"});
}

TEST(OverlappingClasses, KnowTinyImageNetsAgainstCifar100s) {
  const Names tiny = {"n02132136 brown bear, bruin, Ursus arctos",
                      "n01882714 koala, koala bear, kangaroo bear, native bear, Phascolarctos cinereus",
                      "n03085013 computer keyboard, keypad",
                      "n07720875 bell pepper",
                      "n02814860 beacon, lighthouse, beacon light, pharos",
                      "n03649909 lawn mower, mower"};
  EXPECT_EQ(overlapping_classes(tiny, {"bear", "kangaroo", "keyboard", "sweet_pepper", "house", "lawn_mower"}),
            (Names{tiny[0], tiny[2], tiny[3], tiny[5]}));
}

TEST(OverlappingClasses, OfDigitSetsAreAllOfThem) {
  EXPECT_EQ(overlapping_classes(kDigits, kDigits), kDigits);
  EXPECT_EQ(overlapping_classes({"zero", "one", "A"}, kDigits), (Names{"zero", "one"}));
  EXPECT_EQ(overlapping_classes(kDigits, kCifar10), Names{});
}

TEST(ClassKinds, NameEachClassOnce) {
  std::set<std::string_view> names;
  for (const auto& kind : kinds_of_classes()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    if (kind.wordnet.empty()) continue;
    EXPECT_TRUE(names.insert(kind.wordnet).second) << kind.wordnet;
  }
}

Dataset five_classes() {
  const auto labels = torch::tensor({0, 1, 2, 3, 4, 3, 2, 1, 0}, torch::kInt64);
  return {"mine", labels.to(torch::kFloat32).unsqueeze(1), labels, {"a", "b", "c", "d", "e"}, {"label"}};
}

TEST(WithoutClasses, DropsRowsAndClosesUpTheLabels) {
  const auto kept = without_classes(five_classes(), {"d", "a"});
  EXPECT_EQ(kept.class_names, (Names{"b", "c", "e"}));
  EXPECT_TRUE(kept.labels.equal(torch::tensor({0, 1, 2, 1, 0}, torch::kInt64)));
  EXPECT_TRUE(kept.inputs.flatten().equal(torch::tensor({1.F, 2.F, 4.F, 2.F, 1.F})));
  EXPECT_EQ(kept.name, "mine");
  EXPECT_EQ(kept.feature_names, Names{"label"});
  check_dataset(kept);
}

TEST(WithoutClasses, TakesChosenRows) {
  auto set = five_classes();
  const auto wanted = without_classes(select(set, torch::tensor({6, 1, 0}, torch::kInt64)), {"a"});
  set.rows = torch::tensor({6, 1, 0}, torch::kInt64);
  set.labels = set.labels.index_select(0, set.rows);
  const auto kept = without_classes(set, {"a"});
  EXPECT_TRUE(kept.labels.equal(wanted.labels));
  EXPECT_TRUE(kept.inputs.equal(wanted.inputs));
  check_dataset(kept);
}

TEST(WithoutClasses, OfNoneOrAllIsEverythingOrNothing) {
  const auto set = five_classes();
  EXPECT_TRUE(without_classes(set, {}).labels.equal(set.labels));
  const auto none = without_classes(set, set.class_names);
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.num_classes(), 0);
}

TEST(WithoutClasses, RefusesWhatItCannotDrop) {
  auto set = five_classes();
  EXPECT_THROWS(ArgumentError, without_classes(set, {"z"}), "without_classes: mine has no class \"z\"");
  set.labels = torch::Tensor();
  EXPECT_THROWS(ArgumentError, without_classes(set, {"a"}), "without_classes: mine has no labels");
}

}  // namespace
}  // namespace priornet
