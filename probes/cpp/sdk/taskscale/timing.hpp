// The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop would not
// have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores.
#pragma once

#include <algorithm>

#include "clock.hpp"
#include "json.hpp"

namespace taskscale {

// What a timed run brought. `answer` is the sum of all iterations' answers, modulo 2^64.
struct Timing {
  std::uint64_t wall_ns = 0, cpu_ns = 0, answer = 0;
  Object extra;
};

// The share of creation, summed over iterations. Reads no clock unless the request has `phases`.
class Phases {
 public:
  explicit Phases(bool on) : on_(on) {}

  // Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts tasks
  // until near its end), the last call counts.
  void created() { if (on_) wall_ = wall_ns() - wall_before_, cpu_ = cpu_ns() - cpu_before_; }

  void begin() { if (on_) wall_before_ = wall_ns() - wall_, cpu_before_ = cpu_ns() - cpu_; }

  Object extra() const { return wall_ == 0 ? Object{} : Object{{"create_wall_ns", wall_}, {"create_cpu_ns", cpu_}}; }

 private:
  bool on_;
  std::uint64_t wall_ = 0, cpu_ = 0;                // the sums
  std::uint64_t wall_before_ = 0, cpu_before_ = 0;  // what the clocks read, less the sums, when the iteration began
};

// Times `iterations` calls of `one`, which takes the phases, does the workload once and returns its answer.
template <class One>
Timing timed(std::uint64_t iterations, bool phases_on, One&& one) {
  Phases phases(phases_on);
  Timing timing;
  const std::uint64_t cpu = cpu_begin_ns(), wall = wall_ns();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    phases.begin();
    timing.answer += one(phases);
  }
  timing.wall_ns = wall_ns() - wall;
  timing.cpu_ns = cpu_end_ns() - cpu;
  timing.extra = phases.extra();
  return timing;
}

// Times of each iteration `one(phases, made)` alone: `made` is what `setup()` gave, anew each time, and `teardown(made)` ends it.
// What both took is told beside. Clocks are read around each iteration, for some 10 us: let one take 50 us or more.
template <class Setup, class One, class Teardown>
Timing timed_each(std::uint64_t iterations, bool phases_on, Setup&& setup, One&& one, Teardown&& teardown) {
  Phases phases(phases_on);
  Timing timing;
  const std::uint64_t wall_begin = wall_ns(), cpu_begin = cpu_ns();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    auto made = setup();
    const std::uint64_t cpu = cpu_begin_ns(), wall = wall_ns();
    phases.begin();
    timing.answer += one(phases, made);
    timing.wall_ns += wall_ns() - wall;
    timing.cpu_ns += cpu_end_ns() - cpu;
    teardown(made);
  }
  const std::uint64_t cpu_all = cpu_ns() - cpu_begin, wall_all = wall_ns() - wall_begin;
  timing.extra = phases.extra();
  timing.extra.emplace_back("setup_cpu_ns", cpu_all - std::min(cpu_all, timing.cpu_ns));
  timing.extra.emplace_back("setup_wall_ns", wall_all - std::min(wall_all, timing.wall_ns));
  return timing;
}

}  // namespace taskscale
