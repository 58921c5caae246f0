// `cancel`: `size` threads that all wait for what never comes, stopped and joined, both of which is timed; and callbacks of a
// stop token without threads. Answer of an iteration: the number that saw that they were stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <taskscale/probe.hpp>

namespace cancel {

using taskscale::Run;
using taskscale::Timing;

// What threads wait for, until their token says stop. A thread is counted while it holds the mutex that it lets go of by
// waiting: who holds it then sees only threads that wait.
class Never {
 public:
  void wait(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    all_.notify_one();
    changed_.wait(lock, stop, [] { return false; });
    if (stop.stop_requested()) ++stopped_;
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
    if (stopped_ > 0) throw taskscale::Refused(std::to_string(stopped_) + " threads were stopped before");
  }

  // To be called when all threads are joined.
  std::uint64_t stopped() const { return stopped_; }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable all_;
  std::uint64_t waiting_ = 0, stopped_ = 0;
};

// One iteration's threads. Dropped before the threads were stopped by hand, they stop and join themselves.
struct Threads {
  Never never;
  std::stop_source source;
  std::vector<std::jthread> all;

  ~Threads() { source.request_stop(); }
};

// `shared`: all wait with the token of one source; otherwise each with that of its own thread.
inline Timing threads(const Run& run, bool shared) {
  const bool newest = run.word("first") == "newest";
  const auto setup = [&] {
    auto made = std::make_unique<Threads>();
    made->all.reserve(run.size);
    try {
      for (std::uint64_t i = 0; i < run.size; ++i) {
        made->all.emplace_back([&threads = *made, shared](std::stop_token own) { threads.never.wait(shared ? threads.source.get_token() : own); });
      }
    } catch (const std::system_error& why) {
      throw taskscale::Refused("after " + std::to_string(made->all.size()) + " threads the system gives no further one: " + why.what());
    }
    made->never.until_all(run.size);
    return made;
  };
  return run.time_each(setup, [&](taskscale::Phases&, std::unique_ptr<Threads>& made) {
    if (shared) {
      made->source.request_stop();
    } else {
      for (std::uint64_t i = 0; i < run.size; ++i) made->all[newest ? run.size - 1 - i : i].request_stop();
    }
    made->all.clear();  // joins
    return made->never.stopped();
  });
}

// Callbacks of one token, called by whoever stops.
inline Timing callbacks(const Run& run) {
  struct Made {
    std::stop_source source;
    std::uint64_t called = 0;
    std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> all;
  };
  const auto setup = [&] {
    auto made = std::make_unique<Made>();
    made->all.reserve(run.size);
    for (std::uint64_t i = 0; i < run.size; ++i) {
      made->all.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(made->source.get_token(), [made = made.get()] { ++made->called; }));
    }
    return made;
  };
  return run.time_each(setup, [](taskscale::Phases&, std::unique_ptr<Made>& made) {
    made->source.request_stop();
    return made->called;
  });
}

inline void declare(std::uint64_t most, const std::string& why) {
  taskscale::param("cancel", "first", "oldest", "which thread is stopped first", {"oldest", "newest"});
  const std::vector<std::pair<std::string, taskscale::Array>> oldest{{"first", {"oldest"}}};
  taskscale::variant("cancel", "jthread/stop_source", {.only = oldest, .max_size = most, .note = "one source for all; " + why},
                     [](const Run& run) { return threads(run, true); });
  taskscale::variant("cancel", "jthread/request_stop", {.max_size = most, .note = "a token each; " + why},
                     [](const Run& run) { return threads(run, false); });
  taskscale::variant("cancel", "stop_callback", {.creates_task = false, .only = oldest, .note = "callbacks of one token, no threads"}, callbacks);
}

}  // namespace cancel
