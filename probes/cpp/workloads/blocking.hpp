// `blocking`: `size` tasks, started at once, of which one in so many blocks for a while: what do the others wait? A task tells
// how long it was ready before it ran. Answer of an iteration: the number of tasks done.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <taskscale/probe.hpp>

namespace blocking {

using taskscale::Run;
using taskscale::Timing;

// One iteration: what its tasks tell.
struct Burst {
  explicit Burst(std::size_t size) : waits(size) {}
  std::vector<std::uint64_t> waits;
  std::atomic<std::uint64_t> blocked{0};
};

// A task, ready from when it is made. It blocks where `us` says for how long.
struct Task {
  Burst* burst;
  std::size_t i;
  std::int64_t us;  // negative: it does not block
  std::uint64_t ready = taskscale::wall_ns();

  void operator()() const {
    burst->waits[i] = taskscale::wall_ns() - ready;
    if (us < 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    burst->blocked.fetch_add(1, std::memory_order_relaxed);
  }
};

// `start(size, task)` starts `task(i)` for each i, and returns when all are done.
template <class Start>
Timing perform(const Run& run, bool blocks, Start&& start) {
  const std::uint64_t every = run.integer("every");
  const auto us = static_cast<std::int64_t>(run.integer("block_us"));
  std::vector<std::uint64_t> waits;
  std::uint64_t blocked = 0;
  const auto make = [&] { return std::make_unique<Burst>(run.size); };
  const auto one = [&](taskscale::Phases&, std::unique_ptr<Burst>& burst) {
    start(run.size, [&](std::size_t i) { return Task{burst.get(), i, blocks && i % every == 0 ? us : -1}; });
    return run.size;
  };
  Timing timing = run.time_each(make, one, [&](std::unique_ptr<Burst>& burst) {
    waits.insert(waits.end(), burst->waits.begin(), burst->waits.end());
    blocked += burst->blocked;
  });
  std::ranges::sort(waits);
  // The smallest wait that so many percent do not exceed.
  const auto least = [&](std::size_t percent) { return waits[(waits.size() * percent + 99) / 100 - 1]; };
  timing.extra.emplace_back("wait_p50_ns", least(50));
  timing.extra.emplace_back("wait_p99_ns", least(99));
  timing.extra.emplace_back("wait_max_ns", least(100));
  timing.extra.emplace_back("blocked", blocked);
  return timing;
}

// Declares a way of starting tasks, with and without one that blocks.
template <class Start>
void declare(const std::string& name, const taskscale::Options& options, Start start) {
  taskscale::param("blocking", "block_us", std::uint64_t{1'000}, "how long a task blocks that does, in microseconds");
  taskscale::param("blocking", "every", std::uint64_t{100}, "one task in so many blocks, the first of them");
  taskscale::variant("blocking", name + "/without", options, [start](const Run& run) { return perform(run, false, start); });
  taskscale::variant("blocking", name + "/inline", options, [start](const Run& run) { return perform(run, true, start); });
}

}  // namespace blocking
