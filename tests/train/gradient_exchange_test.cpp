#include <gtest/gtest.h>
#include <priornet/uncertainty/random.h>
#include <sys/prctl.h>
#include <testing/started_process.h>
#include <testing/throws.h>
#include <torch/nn/functional/loss.h>

#include <future>

#include "learning/networks/architectures.h"
#include "learning/processes/collectives.h"
#include "learning/training/run_processes.h"

// Threads of this process play the processes of a run.

namespace priornet {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kRows = 12;

/// Calls work(group) for each rank, each on its own thread, and returns the results.
template <class Work>
auto in_processes(int processes, const Work& work, ProcessPlace place = {}) {
  if (place.attempt.empty()) place.port = static_cast<uint16_t>(free_local_port());
  place.processes = processes;
  place.master = "127.0.0.1";
  std::vector<std::future<decltype(work(std::declval<ProcessGroup&>()))>> running;
  for (int rank = 0; rank < processes; ++rank)
    running.push_back(std::async(std::launch::async, [&work, rank, place]() mutable {
      place.rank = rank;
      ProcessGroup group(place, torch::kCPU, {250s, 250s});
      return work(group);
    }));
  std::vector<decltype(work(std::declval<ProcessGroup&>()))> results;
  for (auto& one : running) results.push_back(one.get());
  return results;
}

MLP network() { return MLP(MLPOptions{4, {7, 5}, 3}, make_generator(3)); }

/// The loss of rows first, ..., first + count - 1 of the same made-up data.
torch::Tensor loss(MLP& model, int64_t first, int64_t count) {
  auto generator = make_generator(4);
  const auto inputs = torch::randn({kRows, 4}, generator);
  const auto labels = torch::randint(0, 3, {kRows}, generator, torch::kInt64);
  return torch::nn::functional::cross_entropy(model->forward(inputs.narrow(0, first, count)),
                                              labels.narrow(0, first, count));
}

/// The gradients of each process after two steps; the first step must not show in the second.
std::vector<torch::Tensor> exchanged(int processes, int64_t bucket_bytes, int64_t buckets) {
  return in_processes(processes, [&](ProcessGroup& group) {
    auto model = network();
    FlatParameters parameters(model->parameters());
    GradientExchange exchange(parameters, group, bucket_bytes);
    EXPECT_EQ(exchange.buckets(), buckets);
    const auto count = kRows / group.processes();
    for (int step = 0; step < 2; ++step) {
      parameters.clear_gradients();
      loss(model, group.rank() * count, count).backward();
      exchange.wait();
    }
    return parameters.gradients;
  });
}

TEST(GradientExchange, GivesAllProcessesTheGradientOfTheWholeBatch) {
  auto model = network();
  FlatParameters whole(model->parameters());
  loss(model, 0, kRows).backward();
  for (const int processes : {2, 3}) {
    const auto one_bucket = exchanged(processes, 1 << 20, 1);
    const auto few_buckets = exchanged(processes, 300, 3);
    const auto many_buckets = exchanged(processes, 1, 6);
    for (size_t rank = 0; rank < one_bucket.size(); ++rank) {
      EXPECT_TRUE(one_bucket[rank].allclose(whole.gradients, 1e-5, 1e-7)) << rank;
      EXPECT_TRUE(one_bucket[rank].equal(one_bucket[0])) << rank;
      EXPECT_TRUE(few_buckets[rank].allclose(one_bucket[0], 1e-6, 1e-8)) << rank;
      EXPECT_TRUE(many_buckets[rank].allclose(one_bucket[0], 1e-6, 1e-8)) << rank;
    }
  }
}

TEST(GradientExchange, SumsBucketsWhileBackwardStillRuns) {
  in_processes(2, [](ProcessGroup& group) {
    auto model = network();
    FlatParameters parameters(model->parameters());
    GradientExchange exchange(parameters, group, 1);
    // The last bias has its gradient first. The first layer waits until that gradient is summed over both processes.
    const auto bias = parameters.views.back().grad();
    bool seen = false;
    parameters.views.front().register_hook([&](const torch::Tensor& gradient) {
      for (int i = 0; i < 60'000 && !seen; ++i) {
        seen = std::abs(bias.sum().item<float>() - 6.0F) < 1e-4F;
        std::this_thread::sleep_for(1ms);
      }
      return gradient;
    });
    auto generator = make_generator(1);
    const auto logits = model->forward(torch::randn({2, 4}, generator));
    // The gradient of the last bias is 1 for each of 3 logits, in each of the two processes.
    (logits.sum() / 2).backward();
    exchange.wait();
    EXPECT_TRUE(seen);
    return 0;
  });
}

TEST(GradientExchange, CountsAParameterWithoutGradientAsZero) {
  const auto gradients = in_processes(2, [](ProcessGroup& group) {
    const auto used = torch::ones({3}, torch::requires_grad());
    const auto unused = torch::ones({2}, torch::requires_grad());
    FlatParameters parameters({used, unused});
    GradientExchange exchange(parameters, group, 1);
    (used * static_cast<double>(group.rank())).sum().backward();
    exchange.wait();
    EXPECT_TRUE(unused.grad().equal(torch::zeros({2})));
    return used.grad();
  });
  for (const auto& gradient : gradients) EXPECT_TRUE(gradient.equal(torch::full({3}, 0.5)));
}

TEST(ProcessGroup, BroadcastsAveragesAndAgrees) {
  in_processes(3, [](ProcessGroup& group) {
    auto value = torch::full({2}, 1.0 + group.rank(), torch::kFloat64);
    group.average(value);
    EXPECT_TRUE(value.equal(torch::full({2}, 2.0, torch::kFloat64)));
    auto given = torch::full({2}, 5 + group.rank(), torch::kInt64);
    group.broadcast(given);
    EXPECT_TRUE(given.equal(torch::full({2}, 5, torch::kInt64)));
    EXPECT_TRUE(group.any(group.rank() == 1));
    EXPECT_FALSE(group.any(false));
    for (int i = 0; i < 2; ++i) group.agree("number", std::to_string(i), "differs");
    return 0;
  });
}

TEST(ProcessGroup, TheFirstStaysUntilTheOthersHaveReadWhatItHolds) {
  const auto agreed = in_processes(3, [](ProcessGroup& group) {
    if (!group.is_first()) std::this_thread::sleep_for(group.rank() * 700ms);
    group.agree("number", "1", "differs");
    return group.rank();
  });
  EXPECT_EQ(agreed, (std::vector<int>{0, 1, 2}));
}

TEST(ProcessGroup, WhoDisagreesWithTheFirstIsRefused) {
  in_processes(2, [](ProcessGroup& group) {
    const auto disagree = [&] { group.agree("rank", std::to_string(group.rank()), "its rank differs"); };
    if (group.is_first())
      EXPECT_NO_THROW(disagree());
    else
      EXPECT_THROWS(ConfigError, disagree(), "process 1 of 2: its rank differs");
    return 0;
  });
}

// A store in a process of its own, which can be stopped for a while.
class StoreProcess {
 public:
  explicit StoreProcess(const ProcessPlace& place) : id_(::fork()) {
    if (id_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      const auto store = open_store(place, {true, 250s});
      while (true) ::pause();
    } catch (const std::exception&) {  // then nobody finds it
    }
    ::_exit(1);
  }
  ~StoreProcess() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  void send(int signal) const { ::kill(id_, signal); }

 private:
  pid_t id_;
};

TEST(ProcessGroup, AgreesOnceASlowStoreAnswers) {
  ProcessPlace place;
  place.master = "127.0.0.1";
  place.port = static_cast<uint16_t>(free_local_port());
  place.attempt = "0";
  const StoreProcess store(place);
  const auto agreed = in_processes(
      1,
      [&](ProcessGroup& group) {
        store.send(SIGSTOP);
        std::this_thread::sleep_for(500ms);  // the sign of life now waits for the store
        const auto awake = std::async(std::launch::async, [&] {
          std::this_thread::sleep_for(1s);
          store.send(SIGCONT);
        });
        group.agree("number", "1", "differs");
        return true;
      },
      place);
  EXPECT_EQ(agreed, std::vector<bool>{true});
}

// torchrun has such a store, and starts failed processes again.
TEST(ProcessGroup, MeetsAgainInAStoreThatOutlivesIt) {
  ProcessPlace place;
  place.master = "127.0.0.1";
  place.port = static_cast<uint16_t>(free_local_port());
  const auto store = open_store(place, {true, 250s});
  for (const char* attempt : {"0", "1"}) {
    place.attempt = attempt;
    const auto sums = in_processes(
        2,
        [&](ProcessGroup& group) {
          group.agree("attempt", attempt, "differs");
          const auto one = torch::ones({1});
          group.start_sum(one)->wait();
          return one.item<float>();
        },
        place);
    EXPECT_EQ(sums, (std::vector<float>{2, 2}));
  }
}

}  // namespace
}  // namespace priornet
