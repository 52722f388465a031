#include <priornet/dirichlet/sampling.h>

#include <ATen/Dispatch.h>
#include <priornet/core/checks.h>
#include <priornet/core/rows.h>
#include <priornet/dirichlet/row_works.h>

namespace priornet {

torch::Tensor sample_log(const torch::Tensor& logits, const SampleOptions& options) {
  check_logits("sample_log", "logits", logits);
  check_range("sample_log", "samples", options.samples >= 0, "at least 0", static_cast<double>(options.samples));
  const bool on_cuda = is_on_cuda("sample_log", logits);
  constexpr int64_t kCost = 64;  // of a draw, next to an element of a vectorised kernel
  const auto input = logits.detach().contiguous();
  const auto log_mu = torch::empty({options.samples, input.size(0), input.size(1)}, input.options());
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "sample_log", [&] {
    const SampleWork<scalar_t> work{
        input.data_ptr<scalar_t>(), input.size(0), input.size(1), options.samples, options.seed,
        log_mu.data_ptr<scalar_t>()};
    for_each_row(work, input.size(0), kCost * options.samples * input.size(1), on_cuda);
  });
  return log_mu;
}

torch::Tensor sample(const torch::Tensor& logits, const SampleOptions& options) {
  return sample_log(logits, options).exp_();
}

}  // namespace priornet
