// The two clocks, in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace taskscale {

inline std::uint64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);  // cannot fail: both clocks exist wherever this compiles, and the pointer is good
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// The monotonic wall clock. Costs about 25 ns.
inline std::uint64_t wall_ns() { return read_clock(CLOCK_MONOTONIC); }

// CPU time that all threads of this process have used, user and system. Costs a system call, about 300 ns.
inline std::uint64_t cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// The smallest step that a clock was seen to make in 1,000 steps: what it can really show, cost of reading it included,
// and not the 1 ns that clock_getres promises.
inline std::uint64_t resolution_ns(std::uint64_t (*clock)()) {
  std::uint64_t smallest = UINT64_MAX, last = clock();
  for (int steps = 0; steps < 1'000;) {
    const std::uint64_t now = clock();
    if (now > last) smallest = std::min(smallest, now - last), last = now, ++steps;
  }
  return smallest;
}

}  // namespace taskscale
