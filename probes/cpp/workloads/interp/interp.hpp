// `interp`: requests to an interpreter that may suspend, in every encoding that C++ has for it.
//
// | header | holds |
// |---|---|
// | program | the tree, and how it is read |
// | value | values, the environment, and the builtins that cannot suspend |
// | machine | what the evaluators share |
// | sync | `sync`, `task` |
// | coroutine | what `async` and `union` are made of, and their queue |
// | async | `async`, `async/sync_caller` |
// | union | `union` |
// | observe | what an instrumented run counts |
#pragma once

#include <memory>

#include "async.hpp"
#include "sync.hpp"
#include "union.hpp"

namespace interp {

// Where an output first differs from the right one.
inline std::string difference(const std::string& got, const std::string& right) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(got, right).in1 - got.begin());
  const auto part = [&](const std::string& text) { return taskscale::in_quotes(text.substr(std::min(at, text.size()), 40)); };
  return "a request's output differs from byte " + std::to_string(at) + " on: " + part(got) + ", right is " + part(right) + " (" +
         std::to_string(got.size()) + " bytes, right are " + std::to_string(right.size()) + ")";
}

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
taskscale::Timing performed(const taskscale::Run& run, Observer& observer) {
  const Encoding<Observer> encoding{{every(run.integer("pause")), observer}};
  const std::uint64_t depth = run.integer("depth");
  const Node& tree = program(depth, run.word("lookup") == "prelinked");
  const std::string right = right_output(depth);
  std::string wrong, output;
  const taskscale::Timing timing = run.time([&](taskscale::Phases&) {
    std::uint64_t good = 0;
    for (std::uint64_t i = 0; i < run.size; ++i) {
      output.clear();
      write(encoding.request(tree), output);
      observer.answered(output);
      if (output == right) {
        ++good;
      } else if (wrong.empty()) {
        wrong = difference(output, right);
      }
    }
    return good;
  });
  if (!wrong.empty()) throw taskscale::Refused(wrong);
  return timing;
}

// The same, instrumented.
template <template <class> class Encoding, Flaw kFlaw = Flaw::kNone>
taskscale::Timing counted(const taskscale::Run& run) {
  Counting<kFlaw> counting;
  taskscale::Timing timing = performed<Encoding>(run, counting);
  const taskscale::Object extra = counting.extra();
  timing.extra.insert(timing.extra.end(), extra.begin(), extra.end());
  return timing;
}

template <template <class> class Encoding>
void encoding(const std::string& name, taskscale::Options options) {
  taskscale::variant("interp", name, std::move(options), [](const taskscale::Run& run) {
    Silent silent;
    return run.verify ? counted<Encoding>(run) : performed<Encoding>(run, silent);
  });
}

inline void declare() {
  taskscale::param("interp", "lookup", "by_name",
                   "how a call finds its function: in a std::unordered_map, or in the tree; the environment is a linked list",
                   {"by_name", "prelinked"});
  taskscale::param("interp", "pause", 0, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100");
  taskscale::param("interp", "depth", 0, "above 0: that many nested lets are evaluated");
  const std::string yields = "; an element that suspends goes to the end of a queue of one thread";
  const auto no_task = [](std::string note) { return taskscale::Options{.creates_task = false, .note = std::move(note)}; };
  encoding<Sync>("sync", no_task("plain recursion; an element that suspends calls std::this_thread::yield"));
  encoding<Async>("async", no_task("a coroutine at every node and builtin, resumed by symmetric transfer" + yields));
  encoding<SyncCaller>("async/sync_caller", no_task("a coroutine at every node; builtins that cannot suspend are called" + yields));
  encoding<Union>("union", no_task("a std::variant of a value and a coroutine; combinators take the value at once" + yields));
  // A request is 1,804 threads, one after another: 60 ms on a quiet machine, and more than a second on a busy one.
  encoding<Threads>("task", {.max_size = 1, .note = "std::async(std::launch::async) at every node: 1,804 threads a request"});
}

}  // namespace interp
