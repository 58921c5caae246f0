// `interp`: requests to an interpreter that may suspend, in every encoding that C++ has for it.
//
// | header | holds |
// |---|---|
// | program | the tree, and how it is read |
// | value | values, the environment, and the builtins that cannot suspend |
// | machine | what the evaluators share |
// | sync | `sync`, `task` |
// | coroutine | what `async` and `union` are made of, and their queue |
// | workers | what answers requests, and the threads that share them |
// | http | what a server says to the tool |
// | beast | the server |
// | async | `async`, `async/sync_caller` |
// | union | `union` |
// | observe | what an instrumented run counts |
#pragma once

#include <deque>
#include <iostream>

#include "async.hpp"
#include "http.hpp"
#include "sync.hpp"
#include "union.hpp"
#include "workers.hpp"

namespace interp {

// Which elements suspend: those that this divides, none where it is 0.
inline std::int64_t every(std::uint64_t pause) {
  switch (pause) {
    case 0: return 0;
    case 6: return 15;
    case 100: return 1;
    default: throw taskscale::Refused("pause is " + std::to_string(pause) + "; give 0, 6 or 100");
  }
}

// Does all iterations of an encoding. Answer of an iteration: the number of requests with the right output.
template <template <class> class Encoding, class Observer>
taskscale::Timing performed(const taskscale::Run& run) {
  const std::uint64_t depth = run.integer("depth"), asked = run.integer("workers"), number = std::max<std::uint64_t>(asked, 1);
  if (number > kMostWorkers) {
    throw taskscale::Refused("workers is " + std::to_string(number) + "; give at most " + std::to_string(kMostWorkers));
  }
  const std::int64_t divisor = every(run.integer("pause"));
  const Node& tree = program(depth, run.word("lookup") == "prelinked");
  const std::string right = right_output(depth);
  std::deque<Observer> observers(number);
  std::vector<Worker<Encoding<Observer>>> workers;
  workers.reserve(number);
  for (std::uint64_t i = 0; i < number; ++i) {
    const std::uint64_t share = run.size / number + (i < run.size % number ? 1 : 0);
    workers.push_back({{{divisor, observers[i]}}, tree, right, share});
  }
  auto& first = workers.front();
  const auto performed = [&] {
    if (is_served(run)) {
      return serve(run, right, [&first](auto connection) {
        first.answer([connection = std::move(connection)](const std::string& wrong) { connection->respond(wrong); });
      });
    }
    return asked > 0 ? together(run, workers) : run.time([&first](taskscale::Phases&) { return first.loop(); });
  };
  taskscale::Timing timing = performed();
  for (const auto& worker : workers) {
    if (!worker.wrong.empty()) throw taskscale::Refused(worker.wrong);
  }
  if constexpr (Observer::kCounts) {
    for (std::uint64_t i = 1; i < number; ++i) observers.front().add(observers[i]);
    const taskscale::Object extra = observers.front().extra();
    timing.extra.insert(timing.extra.end(), extra.begin(), extra.end());
  }
  return timing;
}

// The same, instrumented.
template <template <class> class Encoding, Flaw kFlaw = Flaw::kNone>
taskscale::Timing counted(const taskscale::Run& run) {
  return performed<Encoding, Counting<kFlaw>>(run);
}

template <template <class> class Encoding>
void encoding(const std::string& name, taskscale::Options options) {
  taskscale::variant("interp", name, std::move(options), [](const taskscale::Run& run) {
    return run.verify ? counted<Encoding>(run) : performed<Encoding, Silent>(run);
  });
}

// Declares `mode`, with the words that are not to be had here apart.
inline void declare_mode() {
  taskscale::Array choices{"inproc"};
  taskscale::Object unavailable;
  const auto missing = no_server();
  for (const taskscale::Json& mode : kServed) {
    if (missing) unavailable.emplace_back(*mode.word(), taskscale::Object{{"reason", missing->reason}, {"remedy", missing->remedy}});
    else choices.push_back(mode);
  }
  taskscale::param("interp", "mode", "inproc",
                   "whether requests are made in the process, or over HTTP to a server of Boost.Beast", choices, unavailable);
  taskscale::param("interp", "rate", 50, "http-open: percent of the closed throughput");
}

// Answers the right bytes without evaluating.
inline taskscale::Timing constant(const taskscale::Run& run) {
  return serve(run, right_output(run.integer("depth")), [](auto connection) { connection->respond(""); });
}

inline void declare() {
  // std::cin then tells what it has read ahead, for which a server must not wait.
  std::ios::sync_with_stdio(false);
  taskscale::param("interp", "lookup", "by_name",
                   "how a call finds its function: in a std::unordered_map, or in the tree; the environment is a linked list",
                   {"by_name", "prelinked"});
  taskscale::param("interp", "pause", 0, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100");
  taskscale::param("interp", "depth", 0, "above 0: that many nested lets are evaluated");
  taskscale::param("interp", "workers", 0, "above 0: that many threads share the requests, each with a loop of its own");
  declare_mode();
  const std::string yields = "; an element that suspends goes to the end of its thread's queue";
  const auto no_task = [](std::string note) { return taskscale::Options{.creates_task = false, .note = std::move(note)}; };
  encoding<Sync>("sync", no_task("plain recursion; an element that suspends calls std::this_thread::yield"));
  encoding<Async>("async", no_task("a coroutine at every node and builtin, resumed by symmetric transfer" + yields));
  encoding<SyncCaller>("async/sync_caller", no_task("a coroutine at every node; builtins that cannot suspend are called" + yields));
  encoding<Union>("union", no_task("a std::variant of a value and a coroutine; combinators take the value at once" + yields));
  // A request is 1,804 threads, one after another: 60 ms on a quiet machine, and more than a second on a busy one. A server
  // of one loop would answer 15 a second.
  encoding<Threads>("task", {.only = {{"mode", taskscale::Array{"inproc"}}}, .max_size = 1,
                             .note = "std::async(std::launch::async) at every node: 1,804 threads a request, too many for a server"});
  taskscale::variant("interp", "constant",
                     {.creates_task = false, .only = {{"mode", kServed}}, .unavailable = no_server(),
                      .note = "the right bytes without evaluating: what the server costs"},
                     constant);
}

}  // namespace interp
