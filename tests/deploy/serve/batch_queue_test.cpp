#include <gtest/gtest.h>
#include <testing/made_up_model.h>

#include <atomic>
#include <future>

#include "tool/server/work_queues.h"

namespace priornet::serving {
namespace {

const std::string kRow = {'\1', '\11', '\0', '\0'};
const std::string kBadRow = {'\1', '\11', '\0', '\377'};

Clock::time_point soon() { return Clock::now() + std::chrono::seconds(10); }

/// Submits and gives the outcome later.
std::future<Outcome> submitted(BatchQueue& queue, const std::string& inputs, Clock::time_point deadline = soon(),
                               const std::string& address = "here") {
  const auto promise = std::make_shared<std::promise<Outcome>>();
  auto future = promise->get_future();
  queue.submit({inputs, static_cast<int64_t>(inputs.size()) / 4, deadline, address},
               [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
  return future;
}

/// A model that waits until its gate opens, and tells how many rows it was asked for.
struct HeldModel {
  std::promise<void> gate;
  std::shared_future<void> open = gate.get_future().share();
  std::promise<void> began;
  std::atomic<bool> first{true};

  Answerer answerer() {
    return [this, answer = made_up_model().answer](const std::string& inputs, int64_t rows) {
      if (first.exchange(false)) began.set_value();
      open.wait();
      return answer(inputs, rows);
    };
  }
};

std::string repeated(const std::string& row, int count) {
  std::string rows;
  for (int i = 0; i < count; ++i) rows += row;
  return rows;
}

TEST(BatchQueue, JoinsWhatWaitsIntoBatches) {
  std::vector<int64_t> sizes;
  std::vector<std::future<Outcome>> outcomes;
  {
    HeldModel model;
    BatchQueue queue(model.answerer(), 4, {8, std::chrono::milliseconds(1), 100},
                     [&](int64_t rows) { sizes.push_back(rows); });
    outcomes.push_back(submitted(queue, kRow));
    model.began.get_future().wait();
    for (int i = 0; i < 20; ++i) outcomes.push_back(submitted(queue, {static_cast<char>(i), '\11', '\0', '\0'}));
    model.gate.set_value();
    queue.finish();
  }
  EXPECT_EQ(sizes, (std::vector<int64_t>{1, 8, 8, 4}));
  for (int i = 0; i < 20; ++i) {
    const auto outcome = outcomes[static_cast<size_t>(i + 1)].get();
    ASSERT_EQ(outcome.status, 200);
    EXPECT_EQ(outcome.answers.prediction, std::vector<int64_t>{i % 3}) << "each gets its own";
  }
}

TEST(BatchQueue, WaitsForOthersNoLongerThanTheLatency) {
  BatchQueue queue(made_up_model().answer, 4, {8, std::chrono::milliseconds(30), 100});
  const auto start = Clock::now();
  EXPECT_EQ(submitted(queue, kRow).get().status, 200);
  const auto waited = Clock::now() - start;
  EXPECT_GE(waited, std::chrono::milliseconds(29));
  EXPECT_LT(waited, std::chrono::seconds(3));
}

TEST(BatchQueue, DoesNotWaitOnceABatchIsFull) {
  BatchQueue queue(made_up_model().answer, 4, {2, std::chrono::seconds(100), 100});
  EXPECT_EQ(submitted(queue, repeated(kRow, 2)).get().status, 200);
}

TEST(BatchQueue, SpreadsALargeRequestOverBatches) {
  std::vector<int64_t> sizes;
  BatchQueue queue(made_up_model().answer, 4, {4, std::chrono::milliseconds(1), 100},
                   [&](int64_t rows) { sizes.push_back(rows); });
  std::string rows;
  for (int i = 0; i < 10; ++i) rows += {static_cast<char>(i), '\11', '\0', '\0'};
  const auto outcome = submitted(queue, rows).get();
  queue.finish();
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(outcome.answers.prediction, (std::vector<int64_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(outcome.answers.probabilities.size(), 30U);
}

TEST(BatchQueue, AnErrorOfOneRequestIsNotTheOthers) {
  HeldModel model;
  BatchQueue queue(model.answerer(), 4, {8, std::chrono::milliseconds(1), 100});
  auto first = submitted(queue, kRow);
  model.began.get_future().wait();
  auto good = submitted(queue, kRow);
  auto bad = submitted(queue, kBadRow);
  auto other = submitted(queue, kRow);
  model.gate.set_value();
  EXPECT_EQ(good.get().status, 200);
  EXPECT_EQ(other.get().status, 200);
  const auto outcome = bad.get();
  EXPECT_EQ(outcome.status, 500);
  EXPECT_EQ(outcome.error, "the model failed: a row that no model takes");
}

// An answer that cannot be written down, for want of memory, say.
TEST(BatchQueue, GoesOnWhenAnAnswerCannotBeWritten) {
  BatchQueue queue(made_up_model().answer, 4, {8, std::chrono::milliseconds(1), 100});
  for (const bool at_all : {true, false}) {
    const auto promise = std::make_shared<std::promise<Outcome>>();
    auto told = promise->get_future();
    queue.submit({kRow, 1, soon(), "here"}, [promise, at_all](Outcome outcome) {
      if (outcome.status == 200) throw std::bad_alloc();
      promise->set_value(std::move(outcome));
      if (!at_all) throw std::bad_alloc();
    });
    EXPECT_EQ(told.get().status, 503);
  }
  EXPECT_EQ(submitted(queue, kRow).get().status, 200);
}

TEST(BatchQueue, RefusesWhatItHasNoRoomFor) {
  HeldModel model;
  BatchQueue queue(model.answerer(), 4, {1, std::chrono::milliseconds(1), 2});
  auto first = submitted(queue, kRow);
  model.began.get_future().wait();
  auto second = submitted(queue, repeated(kRow, 2));
  EXPECT_EQ(queue.waiting(), 2);
  const auto third = submitted(queue, kRow).get();
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.error, "2 inputs from your address are waiting, of at most 1; try again later");
  auto other = submitted(queue, kRow, soon(), "there");
  const auto last = submitted(queue, kRow, soon(), "elsewhere").get();
  EXPECT_EQ(last.status, 503);
  EXPECT_EQ(last.error, "the queue is full: 3 inputs are waiting; try again later");
  model.gate.set_value();
  EXPECT_EQ(second.get().status, 200);
  EXPECT_EQ(other.get().status, 200) << "one address does not fill the queue";
  EXPECT_EQ(submitted(queue, repeated(kRow, 3)).get().status, 503) << "more than ever fit";
  EXPECT_EQ(submitted(queue, repeated(kRow, 2), soon(), "elsewhere").get().status, 200) << "nothing waits any more";
}

TEST(BatchQueue, AddressesTakeTurns) {
  HeldModel model;
  std::string order;
  BatchQueue queue(
      [&order, answer = model.answerer()](const std::string& inputs, int64_t rows) {
        order += inputs[0];
        return answer(inputs, rows);
      },
      4, {1, std::chrono::milliseconds(1), 20});
  const auto row = [](char letter) { return std::string{letter, '\11', '\0', '\0'}; };
  std::vector<std::future<Outcome>> outcomes;
  outcomes.push_back(submitted(queue, row('a'), soon(), "a"));
  model.began.get_future().wait();
  outcomes.push_back(submitted(queue, repeated(row('a'), 2), soon(), "a"));
  outcomes.push_back(submitted(queue, row('a'), soon(), "a"));
  outcomes.push_back(submitted(queue, row('b'), soon(), "b"));
  outcomes.push_back(submitted(queue, repeated(row('c'), 2), soon(), "c"));
  model.gate.set_value();
  for (auto& outcome : outcomes) EXPECT_EQ(outcome.get().status, 200);
  queue.finish();
  EXPECT_EQ(order, "abcacaa");
}

TEST(BatchQueue, GivesUpWhatIsTooLate) {
  HeldModel model;
  BatchQueue queue(model.answerer(), 4, {1, std::chrono::milliseconds(1), 100});
  auto first = submitted(queue, kRow);
  model.began.get_future().wait();
  auto late = submitted(queue, kRow, Clock::now() - std::chrono::milliseconds(1));
  auto good = submitted(queue, kRow);
  model.gate.set_value();
  EXPECT_EQ(late.get().status, 504);
  EXPECT_EQ(good.get().status, 200);
}

TEST(BatchQueue, AnswersWhatItTookWhenItEnds) {
  HeldModel model;
  auto queue = std::make_unique<BatchQueue>(model.answerer(), 4, BatchOptions{2, std::chrono::seconds(100), 100});
  std::vector<std::future<Outcome>> outcomes;
  for (int i = 0; i < 9; ++i) outcomes.push_back(submitted(*queue, kRow));
  model.began.get_future().wait();
  model.gate.set_value();
  queue->finish();
  for (auto& outcome : outcomes) EXPECT_EQ(outcome.get().status, 200);
  EXPECT_EQ(submitted(*queue, kRow).get().status, 503);
}

}  // namespace
}  // namespace priornet::serving
