// The two clocks, in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "threads.hpp"

namespace taskscale {

// The monotonic wall clock. Costs about 25 ns.
inline std::uint64_t wall_ns() { return read_clock(CLOCK_MONOTONIC); }

// CPU time that all threads of this process have used, user and system, by one system call of about 300 ns. What runs on
// another CPU may be short of a tick.
inline std::uint64_t cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// The same where a sample begins: exact, for some 5 us. The wall clock is read behind it.
inline std::uint64_t cpu_begin_ns() { return count_running_threads(), cpu_ns(); }

// The same where it ends, without what this call takes. The wall clock is read before it.
inline std::uint64_t cpu_end_ns() {
  const std::uint64_t begun = read_clock(CLOCK_THREAD_CPUTIME_ID);
  count_running_threads();
  const std::uint64_t took = read_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
  return cpu_ns() - took;
}

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
