// `parked`: `size` threads that all wait, and are woken and joined. What is timed is the waking; what they hold while they wait
// is read where the request asks for it. Answer of an iteration: the number of threads that were woken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <taskscale/probe.hpp>

namespace parked {

using taskscale::Run;
using taskscale::Timing;

// What threads wait for. A thread is counted while it holds the mutex that it lets go of by waiting: who holds it then sees
// only threads that wait.
class Event {
 public:
  void wait(bool limited) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    all_.notify_one();
    const auto set = [this] { return set_; };
    if (limited) {
      changed_.wait_for(lock, std::chrono::hours(1), set);
    } else {
      changed_.wait(lock, set);
    }
    if (set_) ++woken_;
  }

  // Returns when that many wait; throws where no further one begins to.
  void until_all(std::uint64_t size) {
    std::unique_lock lock(mutex_);
    while (waiting_ < size) {
      const std::uint64_t before = waiting_;
      if (!all_.wait_for(lock, std::chrono::seconds(5), [&] { return waiting_ > before; })) {
        throw taskscale::Refused(std::to_string(waiting_) + " of " + std::to_string(size) + " threads wait, and no further one begins to");
      }
    }
    if (woken_ > 0) throw taskscale::Refused(std::to_string(woken_) + " threads went on before they were woken");
  }

  void set() {
    {
      const std::lock_guard lock(mutex_);
      set_ = true;
    }
    changed_.notify_all();
  }

  // To be called when all threads are joined.
  std::uint64_t woken() const { return woken_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_, all_;
  bool set_ = false;
  std::uint64_t waiting_ = 0, woken_ = 0;
};

// Resident bytes of this process. `smaps_rollup` counts pages; the kernel's running totals lag behind.
inline std::uint64_t resident() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string word; rollup >> word;) {
    std::uint64_t kib = 0;
    if (word == "Rss:" && rollup >> kib) return kib * 1024;
  }
  throw taskscale::Refused("/proc/self/smaps_rollup has no line Rss");
}

inline Timing perform(const Run& run) {
  const bool reads = run.flag("resident"), limited = run.word("on") == "timer";
  Timing sum;
  Run once = run;
  once.iterations = 1;
  for (std::uint64_t iteration = 0; iteration < run.iterations; ++iteration) {
    // Later iterations find a heap that has held threads before.
    const bool tells = reads && iteration == 0;
    if (tells) sum.extra.emplace_back("resident_before", resident());
    Event event;
    std::vector<std::jthread> threads;
    threads.reserve(run.size);
    try {
      for (std::uint64_t i = 0; i < run.size; ++i) threads.emplace_back([&event, limited] { event.wait(limited); });
      event.until_all(run.size);
      if (tells) sum.extra.emplace_back("resident_waiting", resident());
    } catch (const std::system_error& why) {
      event.set();
      throw taskscale::Refused("after " + std::to_string(threads.size()) + " threads the system gives no further one: " + why.what());
    } catch (...) {
      event.set();
      throw;
    }
    const Timing part = once.time([&](taskscale::Phases&) {
      event.set();
      threads.clear();  // joins
      return event.woken();
    });
    sum.wall_ns += part.wall_ns;
    sum.cpu_ns += part.cpu_ns;
    sum.answer += part.answer;
  }
  if (reads || run.verify) sum.extra.emplace_back("waiting", run.size);  // each iteration has made sure of it
  return sum;
}

inline void declare(taskscale::Options options) {
  taskscale::param("parked", "on", "event", "what threads wait for: a condition variable; the same for an hour at most", {"event", "timer"});
  taskscale::param("parked", "resident", false, "also reads the memory of the process: before the first thread, and while all wait");
  taskscale::variant("parked", "jthread", std::move(options), perform);
}

}  // namespace parked
