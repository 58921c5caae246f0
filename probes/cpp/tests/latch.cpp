// The latch opens after the last task and not before, round after round. Status 1 where it does not; made for ThreadSanitizer.
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

#include "../workloads/latch.hpp"

int main() {
  constexpr std::size_t kTasks = 8;
  static Latch latch;
  for (int round = 0; round < 200; ++round) {
    std::vector<int> slots(kTasks);  // plain memory: what the latch orders, or a race
    latch.reset(kTasks);
    std::vector<std::jthread> threads;
    for (int& slot : slots) {
      threads.emplace_back([&slot] {
        slot = 1;
        latch.leave();
      });
    }
    latch.wait();
    for (const int slot : slots) {
      if (slot == 1) continue;
      std::printf("round %d: the latch opened before the last task\n", round);
      return 1;
    }
  }
  return 0;
}
