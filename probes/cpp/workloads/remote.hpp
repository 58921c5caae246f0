// `remote`: `size` tasks that threads hand to the runtime which are none of its workers. The threads are started before the timed
// part, and wait. Each iteration lets them go, all at once, and ends when the last task has run. A task adds one to a count.
// Answer of an iteration: the number of tasks that have run.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <taskscale/probe.hpp>

namespace remote {

using taskscale::Run;
using taskscale::Timing;

constexpr std::uint64_t kMostProducers = 64;

// The tasks of an iteration. It lives as long as the process, since the last task may still be inside `one` when the waiter
// goes on.
class Ran {
 public:
  void begin(std::uint64_t all) {
    done_ = false;
    all_.store(all, std::memory_order_relaxed);
    count_.store(0, std::memory_order_release);
  }

  // What a task does.
  void one() {
    if (count_.fetch_add(1, std::memory_order_acq_rel) + 1 < all_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    done_ = true;
    signal_.notify_one();
  }

  // Waits for all tasks and gives how many have run.
  std::uint64_t wait() {
    std::unique_lock lock(mutex_);
    signal_.wait(lock, [this] { return done_; });
    return count_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<std::uint64_t> all_ = 0;
  std::mutex mutex_;
  std::condition_variable signal_;
  bool done_ = false;  // under the mutex
};

inline Ran ran;

// What is handed over.
struct Task {
  void operator()() const { ran.one(); }
};

// What producers wait at.
class Gate {
 public:
  // Opens it for the next iteration.
  void open() {
    change([this] { ++opened_; });
  }

  // Lets producers end.
  void close() {
    change([this] { closed_ = true; });
  }

  // Waits until it was opened so often. Gives whether it was.
  bool pass(std::uint64_t iteration) {
    if (iteration == 1) change([this] { ++came_; });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return opened_ >= iteration || closed_; });
    return opened_ >= iteration;
  }

  // Waits until so many have come.
  void await(std::size_t producers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return came_ == producers; });
  }

 private:
  template <class Change>
  void change(Change&& change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t opened_ = 0;
  std::size_t came_ = 0;
  bool closed_ = false;
};

// The tasks of each producer: as even a share as can be.
inline std::vector<std::uint64_t> shares(const Run& run) {
  const std::uint64_t producers = run.integer("producers");
  if (producers < 1 || producers > kMostProducers) {
    throw taskscale::Refused("producers is " + std::to_string(producers) + "; give 1 to " + std::to_string(kMostProducers));
  }
  std::vector<std::uint64_t> all;
  for (std::uint64_t one = 0; one < producers; ++one) all.push_back(run.size / producers + (one < run.size % producers ? 1 : 0));
  return all;
}

// `begin` has the tasks handed over, and the last of them ends the iteration.
template <class Begin>
Timing iterations(const Run& run, Begin&& begin) {
  return run.time([&](taskscale::Phases&) {
    ran.begin(run.size);
    begin();
    return ran.wait();
  });
}

// `hand(task)` is called by threads.
template <class Hand>
Timing from_threads(const Run& run, const Hand& hand) {
  const auto each = shares(run);
  Gate gate;
  std::vector<std::jthread> threads;
  for (const std::uint64_t share : each) {
    threads.emplace_back([&gate, &hand, share] {
      for (std::uint64_t iteration = 1; gate.pass(iteration); ++iteration) {
        for (std::uint64_t left = share; left > 0; --left) hand(Task{});
      }
    });
  }
  gate.await(each.size());
  Timing timing = iterations(run, [&] { gate.open(); });
  gate.close();
  return timing;
}

// `hand(task)` is called by tasks.
template <class Hand>
Timing from_tasks(const Run& run, const Hand& hand) {
  const auto each = shares(run);
  return iterations(run, [&] {
    for (const std::uint64_t share : each) {
      hand([&hand, share] {
        for (std::uint64_t left = share; left > 0; --left) hand(Task{});
      });
    }
  });
}

// The parameter. To be declared once, beside the ways.
inline void declare() { taskscale::param("remote", "producers", 1, "threads outside of the runtime that share the tasks"); }

// Declares a way of handing over a task, from threads and from tasks.
template <class Hand>
void way(const std::string& name, const std::string& note, Hand hand) {
  taskscale::variant("remote", name, {.note = note}, [hand](const Run& run) { return from_threads(run, hand); });
  taskscale::variant("remote", name + "/local", {.note = "tasks in place of the threads"},
                     [hand](const Run& run) { return from_tasks(run, hand); });
}

}  // namespace remote
