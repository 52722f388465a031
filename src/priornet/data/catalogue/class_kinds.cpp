#include <priornet/data/catalogue/class_kinds.h>

namespace priornet {
namespace {

constexpr SameClass kSame[] = {
    {"zero", "0"},
    {"one", "1"},
    {"two", "2"},
    {"three", "3"},
    {"four", "4"},
    {"five", "5"},
    {"six", "6"},
    {"seven", "7"},
    {"eight", "8"},
    {"nine", "9"},
    {"car", "automobile"},
    {"aeroplane", "airplane"},
    {"plane", "airplane"},
    {"motorbike", "motorcycle"},
    {"bike", "bicycle"},
    {"sofa", "couch"},
    {"tv", "television"},
    {"bell pepper", "sweet pepper"},
    {"computer keyboard", "keyboard"},
    // plurals that follow no rule
    {"buses", "bus"},
    {"geese", "goose"},
    {"men", "man"},
    {"mice", "mouse"},
    {"wolves", "wolf"},
    {"women", "woman"},
};

// A kind of a class is what a person who was taught the class would call by its name. Left out on purpose, since that
// person would not: big cats (cat), wolves and foxes (dog), gazelles (deer), gondolas (ship), buses, streetcars and
// tractors (truck), alligators (crocodile), bison (cattle), missiles (rocket), seashores (sea).
constexpr KindOfClass kKinds[] = {
    // TinyImageNet's classes that are CIFAR-10's: 22 of its 200.
    {"n02123045", "tabby", "cat"},
    {"n02123394", "Persian cat", "cat"},
    {"n02124075", "Egyptian cat", "cat"},
    {"n02085620", "Chihuahua", "dog"},
    {"n02094433", "Yorkshire terrier", "dog"},
    {"n02099601", "golden retriever", "dog"},
    {"n02099712", "Labrador retriever", "dog"},
    {"n02106662", "German shepherd", "dog"},
    {"n02113799", "standard poodle", "dog"},
    {"n01641577", "bullfrog", "frog"},
    {"n01644900", "tailed frog", "frog"},
    {"n01855672", "goose", "bird"},
    {"n02002724", "black stork", "bird"},
    {"n02056570", "king penguin", "bird"},
    {"n02058221", "albatross", "bird"},
    {"n02814533", "beach wagon", "automobile"},
    {"n03100240", "convertible", "automobile"},
    {"n03670208", "limousine", "automobile"},
    {"n04285008", "sports car", "automobile"},
    {"n03796401", "moving van", "truck"},
    {"n03977966", "police van", "truck"},
    {"n03662601", "lifeboat", "ship"},
    // CIFAR-100's that is CIFAR-10's. Its authors kept pickups out of CIFAR-10's trucks, so the images do not repeat,
    // but a network that was taught "truck" is not wrong to call a pickup one.
    {"", "pickup truck", "truck"},
    // TinyImageNet's that are CIFAR-100's, beside those of equal names.
    {"n01443537", "goldfish", "aquarium fish"},
    {"n01742172", "boa constrictor", "snake"},
    {"n01774384", "black widow", "spider"},
    {"n01774750", "tarantula", "spider"},
    {"n01983481", "American lobster", "lobster"},
    {"n01984695", "spiny lobster", "lobster"},
    {"n02132136", "brown bear", "bear"},
    {"n02165456", "ladybug", "beetle"},
    {"n02279972", "monarch butterfly", "butterfly"},
    {"n02281406", "sulphur butterfly", "butterfly"},
    {"n02403003", "ox", "cattle"},
    {"n02437312", "Arabian camel", "camel"},
    {"n02504458", "African elephant", "elephant"},
    {"n02823428", "beer bottle", "bottle"},
    {"n03937543", "pill bottle", "bottle"},
    {"n03983396", "pop bottle", "bottle"},
    {"n02917067", "bullet train", "train"},
    {"n03201208", "dining table", "table"},
    {"n03902125", "pay-phone", "telephone"},
    {"n04099969", "rocking chair", "chair"},
    {"n04146614", "school bus", "bus"},
    {"n04487081", "trolleybus", "bus"},
    {"n04311004", "steel arch bridge", "bridge"},
    {"n04366367", "suspension bridge", "bridge"},
    {"n04532670", "viaduct", "bridge"},
    {"n09193705", "alp", "mountain"},
};

}  // namespace

std::span<const SameClass> same_classes() { return kSame; }
std::span<const KindOfClass> kinds_of_classes() { return kKinds; }

}  // namespace priornet
