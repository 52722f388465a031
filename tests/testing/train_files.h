#pragma once

#include <testing/small_images.h>
#include <testing/tool.h>
#include "learning/data/npy.h"

namespace priornet {

/// A small set of images on disk and a configuration that learns from it within a second.
struct TrainFiles : InputFiles {
  TrainFiles() {
    const auto set = small_images(320, 1);
    write_npz(*this / "set.npz", {{"images", set.inputs}, {"labels", set.labels}});
  }

  std::string set() const { return (*this / "set.npz").string(); }

  std::string config(const std::string& more = "") const {
    return text("small.toml", "[data]\ntrain = \"" + set() + "\"\nvalidation = \"" + set() +
                                  "\"\n"
                                  "[model]\nname = \"vgg6\"\nblocks = [[4], [8]]\ndense = [16]\nkeep_dense = 0.8\n"
                                  "[method]\nname = \"dpn\"\nalpha0 = 100\n"
                                  "[outside]\nsource = \"factor-analysis\"\nlatent = 3\n"
                                  "[training]\nepochs = 3\nbatch = 32\noutside_batch = 32\nrate = 0.005\n" +
                                  more);
  }
};

}  // namespace priornet
