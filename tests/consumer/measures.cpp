#include <priornet/dirichlet/measures.h>

#include <cmath>
#include <cstdio>

// A program of somebody else's: the flat Dirichlet over three classes has the differential entropy -ln 2.
int main() {
  const double entropy = priornet::differential_entropy(torch::zeros({1, 3}, torch::kFloat64)).item<double>();
  std::printf("%.15f\n", entropy);
  return std::abs(entropy + std::log(2.0)) < 1e-14 ? 0 : 1;
}
