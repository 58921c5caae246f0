// Cliff, tasks: one loop polls all futures for one that is ready, and takes that out. Tasks
// complete one by one, and the last that was started completes first.
#include <chrono>
#include <future>
#include <vector>

#include <taskscale/probe.hpp>

static std::uint64_t collect(std::uint64_t n) {
  std::vector<std::promise<std::uint64_t>> tasks(n);
  std::vector<std::future<std::uint64_t>> waiting;
  for (auto& task : tasks) waiting.push_back(task.get_future());
  std::uint64_t sum = 0;
  while (!tasks.empty()) {
    tasks.back().set_value(1);
    tasks.pop_back();
    for (auto at = waiting.begin(); at != waiting.end(); ++at) {
      if (at->wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
      sum += at->get();
      waiting.erase(at);
      break;
    }
  }
  return sum;
}

int main() {
  taskscale::variant("collect", "poll", {.creates_task = false}, [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) { return collect(run.size); });
  });
  return taskscale::serve("cpp_poll_futures", "1");
}
