// A latch, for forms whose tasks have no handle.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

// Waits for tasks that have no handle: one atomic decrement per task, and one signal by the last. Lives as long as the
// process, since the last task may still be inside `leave` when the waiter goes on.
class Latch {
 public:
  void reset(std::size_t live) {
    live_.store(live, std::memory_order_relaxed);
    done_ = false;
  }

  void leave() {
    if (live_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    const std::lock_guard lock(mutex_);
    done_ = true;
    signal_.notify_one();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    signal_.wait(lock, [&] { return done_; });
  }

 private:
  std::atomic<std::size_t> live_ = 0;
  std::mutex mutex_;
  std::condition_variable signal_;
  bool done_ = false;  // under the mutex
};
