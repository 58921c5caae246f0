// What an instrumented run counts. Never part of a run whose time is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <taskscale/probe.hpp>

// Executions, their results, and where and how many at once they were.
class Count {
 public:
  // A task has been created; to be called by its creator, before.
  void created() {
    const std::uint64_t live = ++live_;
    for (std::uint64_t most = max_live_; most < live && !max_live_.compare_exchange_weak(most, live);) {
    }
  }

  // A task has been done, with that result; to be called by the task, last.
  void executed(std::uint64_t result) {
    sum_ += result;
    ++executed_;
    {
      const std::lock_guard lock(mutex_);
      workers_.insert(std::this_thread::get_id());
    }
    --live_;
  }

  // The sum of the results since it was last taken.
  std::uint64_t take_sum() { return sum_.exchange(0); }

  // Adds what was counted to `extra`; throws where tasks are missing or too many.
  taskscale::Timing report(const taskscale::Run& run, taskscale::Timing timing) {
    const std::uint64_t executed = executed_, expected = run.size * run.iterations;
    if (executed != expected) {
      throw taskscale::Refused(std::to_string(executed) + " tasks were executed, " + std::to_string(expected) + " were asked for");
    }
    const std::lock_guard lock(mutex_);
    timing.extra.emplace_back("executed", executed);
    timing.extra.emplace_back("max_live", max_live_.load());
    timing.extra.emplace_back("workers_seen", workers_.size());
    return timing;
  }

 private:
  std::atomic<std::uint64_t> executed_ = 0, sum_ = 0, live_ = 0, max_live_ = 0;
  std::mutex mutex_;
  std::set<std::thread::id> workers_;
};
