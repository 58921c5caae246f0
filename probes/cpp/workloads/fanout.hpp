// `fanout`: start `size` tasks, collect `size` results.
//
// A form is a struct with two static functions that do all iterations inside the timed part: `results(plan, body)` brings
// the results back in order, `discard(plan, body)` none. Most are made of one batch of tasks; `in_slots` and
// `without_results` put batches together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <taskscale/probe.hpp>

#include "body.hpp"
#include "count.hpp"
#include "spin.hpp"

using taskscale::Phases;
using taskscale::Run;
using taskscale::Timing;

// A request, read.
struct Plan {
  const Run& run;
  std::size_t size;
  std::size_t batch;         // most tasks alive at once
  std::uint64_t extra_spin;  // steps of the slow-down

  bool windowed() const { return batch < size; }

  template <class One>
  Timing time(One&& one) const {
    return run.time([&](Phases& phases) {
      const std::uint64_t answer = one(phases);
      if (extra_spin > 0) {
        std::uint64_t seed = run.seed;
        black_box(seed);
        std::uint64_t thrown_away = spin(seed, extra_spin);
        black_box(thrown_away);
      }
      return answer;
    });
  }
};

// The most tasks alive at once that a parameter allows: its value, or all where that is 0.
inline std::size_t at_once(const Run& run, const char* param) {
  const std::uint64_t most = run.integer(param);
  return most == 0 ? run.size : std::min(most, run.size);
}

// Results in an array indexed by i; `batch(slots, start, end, phases)` does the tasks from `start` to `end`.
template <class Body, class Batch>
Timing in_slots(const Plan& plan, const Body& body, Batch&& batch) {
  return plan.time([&](Phases& phases) {
    std::vector<std::uint64_t> slots(plan.size);
    for (std::size_t start = 0; start < plan.size; start += plan.batch) {
      batch(slots.data(), start, std::min(start + plan.batch, plan.size), phases);
    }
    return body.ordered(slots);
  });
}

// No results; `batch(start, end, phases)` does the tasks from `start` to `end`.
template <class Body, class Batch>
Timing without_results(const Plan& plan, const Body& body, Batch&& batch) {
  return plan.time([&](Phases& phases) {
    for (std::size_t start = 0; start < plan.size; start += plan.batch) {
      batch(start, std::min(start + plan.batch, plan.size), phases);
    }
    return body.discarded(plan.size);
  });
}

// The parameters, before any variant.
inline void declare_fanout() {
  using taskscale::param;
  param("fanout", "order", "ordered", "how results are collected", {"ordered", "completion", "discard"});
  param("fanout", "work", 0, "steps of spin per task; 0: the task gives 31 * i");
  param("fanout", "window", 0, "most tasks alive at once; 0: all");
  param("fanout", "extra_spin", 0, "steps of spin once per iteration: a slow-down to be found");
}

// A variant that performs `Form`. Answer of an iteration: the sum of the tasks' results; in the order `discard`, where a
// timed run has no results, the number of tasks started.
template <class Form>
void fanout(const std::string& name, taskscale::Array orders, taskscale::Options options = {}) {
  options.only.insert(options.only.begin(), {"order", std::move(orders)});
  taskscale::variant("fanout", name, std::move(options), [](const Run& run) {
    const Plan plan{run, run.size, at_once(run, "window"), run.integer("extra_spin")};
    const bool keep = run.word("order") != "discard";
    const auto perform = [&](const auto& body) { return keep ? Form::results(plan, body) : Form::discard(plan, body); };
    const Spun spun(run.seed, run.integer("work"));
    if (!run.verify) return spun.work == 0 ? perform(Plain{}) : perform(spun);
    Count count;
    return count.report(run, perform(Counted{&count, spun.work == 0 ? Counted::kPlain : Counted::kSpun, spun}));
  });
}
