// `graph`: `size` tasks, some of which may start only when others are done. What task i does is what it does in `fanout`.
//
// A form is a struct with one static function, `run(plan, graph, body)`, that does all iterations inside the timed part. It asks
// the graph which tasks come before each task; they all have smaller numbers, so that tasks can be made in the order of theirs.
#pragma once

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

#include "body.hpp"
#include "count.hpp"
#include "fanout.hpp"

// Which task depends on which.
struct Graph {
  enum Pattern { kTrivial, kChain, kTree, kStencil };

  Pattern pattern;
  std::size_t size;
  std::size_t width;  // tasks in a step of the stencil

  Graph(const std::string& name, std::size_t size) : pattern(named(name)), size(size), width(root(size)) {}

  // Calls `before(j)` for each task j that must be done before task i begins: none, the one before, the parent in a binary
  // tree whose root is task 0, or the neighbours and itself in the step before.
  template <class Before>
  void each_before(std::size_t i, Before&& before) const {
    switch (pattern) {
      case kTrivial:
        return;
      case kChain:
        if (i > 0) before(i - 1);
        return;
      case kTree:
        if (i > 0) before((i - 1) / 2);
        return;
      case kStencil:
        if (i < width) return;
        const std::size_t column = i % width, above = i - width;
        if (column > 0) before(above - 1);
        before(above);
        if (column + 1 < width) before(above + 1);
        return;
    }
  }

 private:
  static Pattern named(const std::string& name) {
    return name == "chain" ? kChain : name == "tree" ? kTree : name == "stencil" ? kStencil : kTrivial;
  }

  // The largest whole number whose square is at most `size`: a stencil is as wide as it is long.
  static std::size_t root(std::size_t size) {
    std::size_t root = 1;
    while ((root + 1) * (root + 1) <= size) ++root;
    return root;
  }
};

// A counted body that proves that each task began after those that it depends on: an error names the first that did not.
struct Proven {
  struct State {
    explicit State(std::size_t size) : done(size) {}
    std::vector<std::atomic<bool>> done;
    std::atomic<std::uint64_t> early = 0;  // the number of a task that began too early, from 1
  };

  Counted counted;
  const Graph* graph;
  State* state;

  void created() const { counted.created(); }

  std::uint64_t result(std::size_t i) const {
    graph->each_before(i, [&](std::size_t j) {
      if (!state->done[j]) state->early = i + 1;
    });
    const std::uint64_t result = counted.result(i);
    // Some tasks linger, so that other workers can run ahead of them: of tasks that take no time those in the wrong order would
    // mostly come in the right one.
    if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    state->done[i] = true;
    return result;
  }

  // Called between iterations, when no task runs.
  std::uint64_t ordered(const std::vector<std::uint64_t>& results) const {
    if (const std::uint64_t early = state->early; early > 0) {
      throw taskscale::Refused("task " + std::to_string(early - 1) + " began before a task that it depends on was done");
    }
    for (std::atomic<bool>& done : state->done) done = false;
    return counted.ordered(results);
  }
};

// The parameters, before any variant.
inline void declare_graph() {
  using taskscale::param;
  param("graph", "pattern", "trivial", "which task waits for which", {"trivial", "chain", "tree", "stencil"});
  param("graph", "work", 0, "steps of spin per task; 0: the task gives 31 * i");
}

// A variant that performs `Form`. Answer of an iteration: the sum of the tasks' results.
template <class Form>
void graph(const std::string& name, taskscale::Options options = {}) {
  taskscale::variant("graph", name, std::move(options), [](const Run& run) {
    const Plan plan{run, run.size, run.size, 0};
    const Graph graph(run.word("pattern"), run.size);
    const Spun spun(run.seed, run.integer("work"));
    if (!run.verify) return spun.work == 0 ? Form::run(plan, graph, Plain{}) : Form::run(plan, graph, spun);
    Count count;
    Proven::State state(run.size);
    const Counted counted{&count, spun.work == 0 ? Counted::kPlain : Counted::kSpun, spun};
    return count.report(run, Form::run(plan, graph, Proven{counted, &graph, &state}));
  });
}
