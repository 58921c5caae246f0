// `idle`: `size` milliseconds are watched, while `rate` tasks arrive a second. Task i arrives i steps of `1000 / rate` milliseconds
// after the beginning, however late the one before it was, and adds a step to a count. None of these libraries has a timer: a
// thread that is none of their workers sleeps until each task arrives. A few a millisecond apart come before, untimed: threads start
// at the first of them. Answer of an iteration: the count.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include <taskscale/probe.hpp>

namespace idle {

using taskscale::Run;
using taskscale::Timing;

constexpr std::uint64_t kBefore = 20;

// Adds a step to the count.
struct Task {
  std::atomic<std::uint64_t>* count;
  std::uint64_t step;

  void operator()() const { count->fetch_add(step, std::memory_order_relaxed); }
};

// Calls `start` at the time of each task.
template <class Start>
void arrive(std::uint64_t number, std::uint64_t step, Start&& start) {
  const auto begun = std::chrono::steady_clock::now();
  for (std::uint64_t i = 1; i <= number; ++i) {
    std::this_thread::sleep_until(begun + std::chrono::milliseconds(i * step));
    start();
  }
}

// `form(number, step, task)` starts so many tasks at their times, and returns when all have ended.
template <class Form>
Timing perform(const Run& run, Form&& form) {
  const std::uint64_t rate = run.integer("rate");
  if (rate != 1 && rate != 10 && rate != 100 && rate != 1'000) {
    throw taskscale::Refused("rate is " + std::to_string(rate) + "; give 1, 10, 100 or 1000");
  }
  const std::uint64_t step = 1'000 / rate;
  if (run.size % step != 0) {
    throw taskscale::Refused("in " + std::to_string(run.size) + " ms no whole number of tasks arrives at " + std::to_string(rate) +
                             " a second");
  }
  const auto once = [&](std::uint64_t number, std::uint64_t apart) {
    std::atomic<std::uint64_t> count{0};
    form(number, apart, Task{&count, apart});
    return count.load();
  };
  once(kBefore, 1);
  return run.time([&](taskscale::Phases&) { return once(run.size / step, step); });
}

// The parameter, once for all variants.
inline void declare_rate() {
  static const bool once = [] {
    taskscale::param("idle", "rate", std::uint64_t{1'000}, "tasks that arrive a second: 1, 10, 100 or 1000");
    return true;
  }();
  static_cast<void>(once);
}

template <class Form>
void declare(const std::string& name, taskscale::Options options, Form form) {
  declare_rate();
  taskscale::variant("idle", name, std::move(options), [form](const Run& run) { return perform(run, form); });
}

}  // namespace idle
