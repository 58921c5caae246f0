// `pingpong`: `size` round trips of a token between the two threads of a pair, over `pairs` pairs. A thread passes the token on
// and then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the token, and whoever
// began counts the trip only if that was done. Answer of an iteration: the number of round trips.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

#include <taskscale/probe.hpp>

namespace pingpong {

using taskscale::Run;
using taskscale::Timing;

constexpr std::uint64_t kNone = ~std::uint64_t{0};

// A token is passed here, and waited for by one thread.
class Guarded {
 public:
  void pass(std::uint64_t token) {
    {
      const std::lock_guard lock(mutex_);
      token_ = token;
    }
    there_.notify_one();
  }

  std::uint64_t take() {
    std::unique_lock lock(mutex_);
    there_.wait(lock, [this] { return token_ != kNone; });
    return std::exchange(token_, kNone);
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_;
  std::uint64_t token_ = kNone;
};

class Released {
 public:
  void pass(std::uint64_t token) {
    token_ = token;
    there_.release();
  }

  std::uint64_t take() {
    there_.acquire();
    return token_;
  }

 private:
  std::binary_semaphore there_{0};
  std::uint64_t token_ = kNone;
};

class Awaited {
 public:
  void pass(std::uint64_t token) {
    token_.store(token, std::memory_order_release);
    token_.notify_one();
  }

  std::uint64_t take() {
    token_.wait(kNone, std::memory_order_acquire);
    return token_.exchange(kNone, std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint64_t> token_{kNone};
};

// The threads of a pair, and where each finds its token.
template <class Direction>
struct Pair {
  Direction there, back;
  std::uint64_t right = 0;

  void ping(std::uint64_t trips) {
    std::uint64_t came = 0;
    for (std::uint64_t token = 0; token < trips; ++token) {
      there.pass(token);
      if (back.take() == token + 1) ++came;
    }
    right = came;
  }

  void pong(std::uint64_t trips) {
    for (; trips > 0; --trips) back.pass(there.take() + 1);
  }
};

// The threads that this one starts share one CPU while this lives, the first that it may use, where `one` says so.
class OneCpu {
 public:
  explicit OneCpu(bool one) : one_(one) {
#ifdef __linux__
    if (!one_) return;
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t first;
    CPU_ZERO(&first);
    int cpu = 0;
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all_)) ++cpu;
    CPU_SET(cpu, &first);
    if (sched_setaffinity(0, sizeof first, &first) != 0) throw taskscale::Refused("the CPUs of this thread cannot be chosen");
#endif
  }

  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

  ~OneCpu() {
#ifdef __linux__
    if (one_) sched_setaffinity(0, sizeof all_, &all_);
#endif
  }

 private:
  bool one_;
#ifdef __linux__
  cpu_set_t all_;
#endif
};

template <class Direction>
Timing perform(const Run& run) {
  const std::uint64_t pairs = run.integer("pairs");
  const OneCpu cpu(run.word("workers") == "one");
  return run.time([&](taskscale::Phases&) {
    std::vector<std::unique_ptr<Pair<Direction>>> all;
    std::vector<std::jthread> threads;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      const std::uint64_t trips = run.size / pairs + (pair < run.size % pairs ? 1 : 0);
      auto& made = *all.emplace_back(std::make_unique<Pair<Direction>>());
      threads.emplace_back([&made, trips] { made.pong(trips); });
      threads.emplace_back([&made, trips] { made.ping(trips); });
    }
    threads.clear();  // joins
    std::uint64_t right = 0;
    for (const auto& pair : all) right += pair->right;
    return right;
  });
}

inline void declare() {
  taskscale::param("pingpong", "pairs", 1, "pairs of threads that share the round trips");
  taskscale::Options options;
#ifdef __linux__
  taskscale::param("pingpong", "workers", "cores", "CPUs that the threads may use", {"cores", "one"});
#else
  taskscale::param("pingpong", "workers", "cores", "CPUs that the threads may use", {"cores"});
#endif
  taskscale::variant("pingpong", "condition_variable", options, perform<Guarded>);
  taskscale::variant("pingpong", "binary_semaphore", options, perform<Released>);
  taskscale::variant("pingpong", "atomic::wait", options, perform<Awaited>);
}

}  // namespace pingpong
