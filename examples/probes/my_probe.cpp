// A probe of your own, whole. Weigh it: taskscale run --probe my_probe.cpp
#include <future>
#include <vector>
#include <taskscale/probe.hpp>

// A task. Change what it does; `size` of them are started in every iteration.
static std::uint64_t task(std::uint64_t i) { return 31 * i; }

int main() {
  // `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
  taskscale::param("fanout", "order", "ordered", "how results are collected", {"ordered"});
  // workload, name of the variant (change it), what there is to say of it, and how it is done (change that):
  taskscale::variant("fanout", "async", {.max_size = 10'000, .note = "a thread per task"}, [](const taskscale::Run& run) {
    // Set up what is needed once (a pool, say) here: only what is inside `run.time` is timed.
    return run.time([&](taskscale::Phases& phases) {
      std::vector<std::future<std::uint64_t>> futures;
      for (std::uint64_t i = 0; i < run.size; ++i) futures.push_back(std::async(std::launch::async, task, i));
      phases.created();  // the last task has been started
      std::uint64_t sum = 0;
      for (auto& future : futures) sum += future.get();
      return sum;  // checked by the tool: the sum of 31 * i
    });
  });
  return taskscale::serve("mine", "1.0");  // your runtime's name and version
}
