#include <priornet/uncertainty.h>
#include <priornet/version.h>

#include <cmath>
#include <cstdio>

// The flat Dirichlet over three classes has the differential entropy -ln 2.
int main() {
  const double entropy = priornet::differential_entropy(torch::zeros({1, 3}, torch::kFloat64)).item<double>();
  std::printf("priornet %s: %.15f\n", PRIORNET_VERSION, entropy);
  return std::abs(entropy + std::log(2.0)) < 1e-14 ? 0 : 1;
}
