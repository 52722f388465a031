#include <ATen/Parallel.h>

#include "our_training.h"
#include "plain_training.h"
#include "timing.h"

namespace priornet::bench {

void compare_training(const Options& options, const Report& report) {
  const auto named = [](const char* work) { return Comparison{work, "float32", 10, at::get_num_threads(), 0, 0}; };
  const TrainingCase dnn{"vgg6", "dnn", 128, 0};
  const TrainingCase dpn{"vgg6", "dpn", 128, 128};
  for (const auto& [what, name] : {std::pair{dnn, "VGG-6 step, dnn"}, {dpn, "VGG-6 step, dpn"}}) {
    OurTraining training(what, options.device, false);
    PlainTraining plain(what, options.device, false);
    report(compare(
        named(name), what.images(), options, [&] { training.step(); }, [&] { plain.step(); }));
  }
  auto other = dnn;
  other.channels_last = false;
  OurTraining contiguous(other, options.device, false);
  OurTraining ours(dnn, options.device, false);
  report(compare(
      named("contig. / chan. last"), dnn.images(), options, [&] { contiguous.step(); }, [&] { ours.step(); }));
}

}  // namespace priornet::bench
