// Cliff in wall time, n^1.5: n waits with a time limit, each of the square root of n.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include <taskscale/probe.hpp>

int main() {
  taskscale::variant("wait", "for", {.creates_task = false}, [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) {
      std::mutex mutex;
      std::condition_variable never;
      std::unique_lock<std::mutex> lock(mutex);
      const auto limit = std::chrono::microseconds(static_cast<long>(60 * std::sqrt(static_cast<double>(run.size))));
      for (std::uint64_t i = 0; i < run.size; ++i) never.wait_for(lock, limit);
      return run.size;
    });
  });
  return taskscale::serve("wait_timed", "1");
}
