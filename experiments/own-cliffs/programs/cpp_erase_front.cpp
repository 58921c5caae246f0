// Cliff, small constant: a vector as a queue. erase(begin()) moves all that is behind, fast.
#include <deque>
#include <vector>

#include <taskscale/probe.hpp>

using Vector = std::vector<std::uint32_t>;
using Deque = std::deque<std::uint32_t>;

template <class Queue>
static std::uint64_t drain(std::uint64_t n) {
  Queue queue;
  for (std::uint64_t i = 0; i < n; ++i) queue.push_back(std::uint32_t(i));
  std::uint64_t sum = 1;
  while (!queue.empty()) {
    sum += queue.front();
    queue.erase(queue.begin());
  }
  return sum;
}

int main() {
  taskscale::variant("queue", "vector", {.creates_task = false}, [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) { return drain<Vector>(run.size); });
  });
  taskscale::variant("queue", "deque", {.creates_task = false}, [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) { return drain<Deque>(run.size); });
  });
  return taskscale::serve("cpp_erase_front", "1");
}
