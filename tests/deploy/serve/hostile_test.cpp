#include <testing/hostile_requests.h>
#include <testing/running_server.h>

namespace priornet {
namespace {

TEST(HostileRequests, LeaveTheServerAliveSmallAndRight) {
  serving::HttpOptions http;
  http.timeout = std::chrono::milliseconds(300);
  auto model = made_up_model();
  model.description.shape = {1, 28, 28};
  model.answer = [small = model.answer](const std::string& inputs, int64_t rows) {
    std::string corners;
    for (int64_t row = 0; row < rows; ++row) corners += inputs.substr(static_cast<size_t>(row * 784), 3) + '\0';
    return small(corners, rows);
  };
  const RunningServer server({model}, {}, http);
  expect_survival(server.port(), 1000);
}

}  // namespace
}  // namespace priornet
