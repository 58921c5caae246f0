// The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop would not
// have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores.
#pragma once

#include <cstdint>

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
  void created() {
    if (on_) created_ = now(), told_ = true;
  }

  void begin() {
    if (on_) begun_ = now(), told_ = false;
  }

  void end() {
    if (!told_) return;
    wall_ += created_.wall - begun_.wall, cpu_ += created_.cpu - begun_.cpu, any_ = true;
  }

  Object extra() const {
    if (!any_) return {};
    return {{"create_wall_ns", wall_}, {"create_cpu_ns", cpu_}};
  }

 private:
  struct Moment {
    std::uint64_t wall = 0, cpu = 0;
  };
  static Moment now() { return {wall_ns(), cpu_ns()}; }

  bool on_, told_ = false, any_ = false;
  Moment begun_, created_;
  std::uint64_t wall_ = 0, cpu_ = 0;
};

// Times `iterations` calls of `one`, which takes the phases, does the workload once and returns its answer.
template <class One>
Timing timed(std::uint64_t iterations, bool phases_on, One&& one) {
  Phases phases(phases_on);
  Timing timing;
  const std::uint64_t wall = wall_ns(), cpu = cpu_ns();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    phases.begin();
    timing.answer += one(phases);
    phases.end();
  }
  timing.cpu_ns = cpu_ns() - cpu;
  timing.wall_ns = wall_ns() - wall;
  timing.extra = phases.extra();
  return timing;
}

}  // namespace taskscale
