// Whoever answers requests; and `workers`: threads that share them, each with a loop of its own.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "coroutine.hpp"
#include "program.hpp"

namespace interp {

inline constexpr std::uint64_t kMostWorkers = 1'000;

// Where an output first differs from the right one.
inline std::string difference(const std::string& got, const std::string& right) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(got, right).in1 - got.begin());
  const auto part = [&](const std::string& text) { return taskscale::in_quotes(text.substr(std::min(at, text.size()), 40)); };
  return "a request's output differs from byte " + std::to_string(at) + " on: " + part(got) + ", right is " + part(right) + " (" +
         std::to_string(got.size()) + " bytes, right are " + std::to_string(right.size()) + ")";
}

// Answers requests: in a loop, or those of a server. It is used by one thread, and shares no line of a cache with the next one.
template <class Encoding>
struct alignas(128) Worker {
  Encoding encoding;
  const Node& tree;
  const std::string& right;
  std::uint64_t requests;
  std::uint64_t wall_ns = 0;
  std::string wrong = {};  // what was wrong with the first wrong output
  std::string output = {};

  // Returns how many outputs were right.
  std::uint64_t loop() {
    std::uint64_t good = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
      std::string differs = judged(encoding.request(tree));
      if (differs.empty()) ++good;
      else if (wrong.empty()) wrong = std::move(differs);
    }
    return good;
  }

  // Makes one request. `respond` is called when it is done, with what is wrong with its output.
  template <class Respond>
  void answer(Respond respond) {
    follow(encoding.begin(tree), [this, respond](const Value& value) { respond(judged(value)); });
  }

 private:
  // Writes an output and compares it. Returns what is wrong with it; nothing where it is right.
  std::string judged(const Value& value) {
    output.clear();
    try {
      write(value, output);
    } catch (const taskscale::Refused& no_value) {
      return no_value.what();
    }
    encoding.machine.observer.answered(output);
    return output == right ? "" : difference(output, right);
  }
};

// Rounds of threads: each waits until a round begins, and whoever begins it until all have done theirs.
class Rounds {
 public:
  // For a thread: waits for the next round. Returns false where there is none.
  bool next(std::stop_token stop, std::uint64_t& seen) {
    std::unique_lock lock(mutex_);
    if (!begun_.wait(lock, stop, [&] { return round_ > seen; })) return false;
    ++seen;
    return true;
  }

  // For a thread: it has done its part.
  void done(std::uint64_t good) {
    const std::lock_guard lock(mutex_);
    good_ += good;
    if (--running_ == 0) ended_.notify_one();
  }

  // Has so many threads do a round. Returns the sum of what they bring.
  std::uint64_t round(std::size_t threads) {
    std::unique_lock lock(mutex_);
    running_ = threads, good_ = 0;
    ++round_;
    begun_.notify_all();
    ended_.wait(lock, [&] { return running_ == 0; });
    return good_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any begun_;
  std::condition_variable ended_;
  std::uint64_t round_ = 0, good_ = 0;
  std::size_t running_ = 0;
};

// Has each worker loop in a thread of its own, which waits between iterations.
template <class Worker>
taskscale::Timing together(const taskscale::Run& run, std::vector<Worker>& workers) {
  Rounds rounds;
  std::vector<std::jthread> threads;  // end before `rounds` does
  for (Worker& worker : workers) {
    threads.emplace_back([&rounds, &worker](std::stop_token stop) {
      for (std::uint64_t seen = 0; rounds.next(stop, seen);) {
        const std::uint64_t began = taskscale::wall_ns();
        std::uint64_t good = 0;
        try {
          good = worker.loop();
        } catch (const std::exception& failed) {
          worker.wrong = failed.what();
        }
        worker.wall_ns += taskscale::wall_ns() - began;
        rounds.done(good);
      }
    });
  }
  taskscale::Timing timing = run.time([&](taskscale::Phases&) { return rounds.round(workers.size()); });
  taskscale::Array requests, walls;
  for (const Worker& worker : workers) requests.push_back(run.iterations * worker.requests), walls.push_back(worker.wall_ns);
  timing.extra.emplace_back("worker_requests", std::move(requests));
  timing.extra.emplace_back("worker_wall_ns", std::move(walls));
  return timing;
}

}  // namespace interp
