#include <ATen/Context.h>
#include <priornet/uncertainty/random.h>
#include <testing/tensors.h>

#include <functional>

#include "learning/base/gpu_modes.h"
#include "learning/networks/layers.h"

// One pass after a convolution gives the same as LibTorch's operations one after the other.

namespace priornet {
namespace {

namespace nn = torch::nn;

const torch::Device kCuda(torch::kCUDA, 0);
constexpr auto kLayout = torch::MemoryFormat::ChannelsLast;

struct Sizes {
  int64_t images, from, to, side;
};

// Too few rows to fill a block, and enough for many blocks; more channels than a block has threads in a row.
constexpr Sizes kSizes[] = {{3, 8, 8, 2}, {5, 3, 24, 6}, {40, 16, 64, 32}, {33, 8, 512, 4}, {2, 8, 2048, 4}};

torch::Tensor activated(const torch::Tensor& values, double slope) {
  return slope == 1.0 ? values : torch::leaky_relu(values, slope);
}

struct Case {
  Case(const Sizes& sizes, bool bias)
      : convolution(nn::Conv2dOptions(sizes.from, sizes.to, 3).padding(1).bias(bias)), norm(sizes.to) {
    const auto generator = make_generator(3);
    const torch::NoGradGuard no_gradient;
    convolution->weight.copy_(torch::randn(convolution->weight.sizes(), generator).mul_(0.2));
    if (bias) convolution->bias.copy_(torch::randn({sizes.to}, generator));
    norm->weight.copy_(torch::rand({sizes.to}, generator).add_(0.5));
    norm->bias.copy_(torch::randn({sizes.to}, generator));
    for (const auto& module : std::initializer_list<nn::Module*>{convolution.get(), norm.get()}) module->to(kCuda);
    convolution->weight.set_data(convolution->weight.contiguous(kLayout));
    inputs = torch::randn({sizes.images, sizes.from, sizes.side, sizes.side}, generator).to(kCuda).contiguous(kLayout);
    residual = torch::randn({sizes.images, sizes.to, sizes.side, sizes.side}, generator).to(kCuda).contiguous(kLayout);
  }

  nn::Conv2d convolution;
  nn::BatchNorm2d norm;
  torch::Tensor inputs, residual;
};

using Forward = std::function<torch::Tensor(Case&)>;

/// The output, then the gradients of a weighted sum of it in inputs, residual and parameters, then the buffers.
std::vector<torch::Tensor> outcome(const Sizes& sizes, bool bias, const Forward& forward) {
  at::globalContext().setAllowTF32CuDNN(false);
  Case made(sizes, bias);
  made.inputs.requires_grad_();
  made.residual.requires_grad_();
  const auto output = forward(made);
  output.backward(torch::randn(output.sizes(), make_generator(9)).to(kCuda));
  std::vector<torch::Tensor> result = {output, made.inputs.grad(), made.residual.grad()};
  for (const auto& parameter : made.convolution->parameters()) result.push_back(parameter.grad());
  for (const auto& parameter : made.norm->parameters()) result.push_back(parameter.grad());
  for (const auto& buffer : made.norm->buffers()) result.push_back(buffer);
  return result;
}

void expect_same(bool bias, const Forward& ours, const Forward& plain) {
  for (const auto& sizes : kSizes) {
    const auto found = outcome(sizes, bias, ours), wanted = outcome(sizes, bias, plain);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(found[i].defined(), wanted[i].defined()) << i;
      if (!wanted[i].defined()) continue;
      const double scale = std::max(1.0, wanted[i].abs().max().item<double>());
      EXPECT_TRUE(near(found[i].cpu() / scale, wanted[i].cpu() / scale, 2e-4))
          << "tensor " << i << " of " << sizes.to << " channels";
    }
  }
}

TEST(CudaConvolution, AddsItsBiasAndActivates) {
  for (const double slope : {0.0, 0.2})
    expect_same(
        true, [=](Case& made) { return convolved(made.inputs, made.convolution, slope); },
        [=](Case& made) { return activated(made.convolution->forward(made.inputs), slope); });
}

TEST(CudaConvolution, Pools) {
  for (const double slope : {0.0, 0.2})
    expect_same(
        true, [=](Case& made) { return convolved_and_pooled(made.inputs, made.convolution, slope); },
        [=](Case& made) { return torch::max_pool2d(activated(made.convolution->forward(made.inputs), slope), 2); });
}

TEST(CudaConvolution, NormsABatch) {
  for (const double slope : {0.0, 0.2, 1.0})
    for (const bool with_residual : {false, true})
      expect_same(
          false,
          [=](Case& made) {
            return convolved_and_normed(made.inputs, made.convolution, made.norm, slope,
                                        with_residual ? made.residual : torch::Tensor());
          },
          [=](Case& made) {
            const auto normed = made.norm->forward(made.convolution->forward(made.inputs));
            return activated(with_residual ? normed + made.residual : normed, slope);
          });
}

// In evaluation, with a gradient (LibTorch's operations) and without (one pass over memory).
TEST(CudaConvolution, NormsByRunningStatistics) {
  at::globalContext().setAllowTF32CuDNN(false);
  for (const auto& sizes : kSizes)
    for (const double slope : {0.0, 0.2, 1.0})
      for (const bool with_residual : {false, true}) {
        Case made(sizes, false);
        const auto residual = with_residual ? made.residual : torch::Tensor();
        const auto normed = [&] {
          return convolved_and_normed(made.inputs, made.convolution, made.norm, slope, residual);
        };
        normed();  // moves the running statistics
        made.norm->eval();
        const auto plain = made.norm->forward(made.convolution->forward(made.inputs));
        const auto wanted = activated(with_residual ? plain + residual : plain, slope).detach().cpu();
        EXPECT_TRUE(near(normed().detach().cpu(), wanted, 1e-4)) << "with a gradient, channels: " << sizes.to;
        const torch::NoGradGuard no_gradient;
        EXPECT_TRUE(near(normed().cpu(), wanted, 1e-4)) << "without one, channels: " << sizes.to;
      }
}

// Both readers' gradients arrive, and a second backward pass does not find the gradients of the first.
TEST(CudaConvolution, AddsUpTheGradientsOfTwoReaders) {
  const auto read = [](const torch::Tensor& first, const torch::Tensor& second) {
    return first.sigmoid() + 3 * second;
  };
  for (const bool with_residual : {false, true})
    expect_same(
        false,
        [=](Case& made) {
          const auto normed = convolved_and_normed(made.inputs, made.convolution, made.norm, 0.2,
                                                   with_residual ? made.residual : torch::Tensor());
          const auto [first, second] = forked(normed);
          read(first, second).sum().backward({}, true);
          for (const auto& tensor :
               {made.inputs, made.residual, made.convolution->weight, made.norm->weight, made.norm->bias})
            tensor.mutable_grad() = torch::Tensor();
          return read(first, second);
        },
        [=](Case& made) {
          const auto values = made.norm->forward(made.convolution->forward(made.inputs));
          const auto normed = activated(with_residual ? values + made.residual : values, 0.2);
          return read(normed, normed);
        });
}

// Twice through the same weights, so that the second gradient is added to the first.
TEST(CudaConvolution, HasTheSameGradientsAside) {
  const auto gradients = [](const std::shared_ptr<SecondStream>& aside) {
    Case made({64, 16, 16, 32}, false);
    made.convolution->weight.mutable_grad() = torch::zeros_like(made.convolution->weight);
    auto inputs = made.inputs.to(torch::kBFloat16).requires_grad_();
    {
      const Autocast autocast(true);
      const WeightGradientsAside weight_gradients(aside);
      const auto once = convolved_and_normed(inputs, made.convolution, made.norm, 0.0);
      const auto output = convolved_and_normed(once, made.convolution, made.norm, 0.0);
      output.backward(torch::randn(output.sizes(), make_generator(9)).to(kCuda).to(torch::kBFloat16));
    }
    if (aside) aside->join();
    return std::vector{made.convolution->weight.grad().cpu(), inputs.grad().cpu(), made.norm->weight.grad().cpu()};
  };
  const auto found = gradients(std::make_shared<SecondStream>(kCuda)), wanted = gradients(nullptr);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double scale = wanted[i].abs().max().item<double>();
    ASSERT_GT(scale, 0.0);
    EXPECT_TRUE(near(found[i] / scale, wanted[i] / scale, 2e-2)) << i;
  }
}

// A mean far above the deviation costs no digits.
TEST(CudaConvolution, NormsValuesFarFromZero) {
  Case made({40, 16, 64, 16}, false);
  const torch::NoGradGuard no_gradient;
  made.convolution->weight.zero_();
  made.convolution->weight.select(3, 1).select(2, 1).fill_(1);
  made.inputs.add_(100);
  const auto wanted = [&] {
    const auto values = made.convolution->forward(made.inputs).to(torch::kFloat64);
    const auto mean = values.mean({0, 2, 3}, true), variance = values.var({0, 2, 3}, false, true);
    return (values - mean) / (variance + 1e-5).sqrt() * made.norm->weight.view({1, -1, 1, 1}) +
           made.norm->bias.view({1, -1, 1, 1});
  }();
  const auto found = convolved_and_normed(made.inputs, made.convolution, made.norm, 1.0);
  EXPECT_TRUE(near(found.cpu(), wanted.cpu(), 2e-3));
}

// In bfloat16 both ways round, in different places.
TEST(CudaConvolution, TakesBFloat16) {
  Case made({40, 16, 64, 32}, true);
  const torch::NoGradGuard no_gradient;
  const auto wanted = torch::max_pool2d(torch::relu(made.convolution->forward(made.inputs)), 2);
  made.convolution->weight.set_data(made.convolution->weight.to(torch::kBFloat16));
  const auto found = convolved_and_pooled(made.inputs.to(torch::kBFloat16), made.convolution, 0.0);
  EXPECT_EQ(found.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(near(found.cpu(), wanted.cpu(), 4e-2));
}

TEST(CudaConvolution, TakesWhatTheKernelsDoNot) {
  for (const auto& sizes : {Sizes{4, 3, 12, 6}, Sizes{4, 3, 16, 5}}) {
    Case made(sizes, true);
    const auto wanted = torch::max_pool2d(torch::relu(made.convolution->forward(made.inputs)), 2);
    EXPECT_TRUE(near(convolved_and_pooled(made.inputs, made.convolution, 0.0).cpu(), wanted.cpu(), 1e-4));
  }
}

}  // namespace
}  // namespace priornet
