// `nop`: `size` tasks that do nothing, started and awaited, `live` at a time. The forms are those of `fanout` in the order
// `discard`, with an empty body and one batch after another.
#pragma once

#include <string>
#include <utility>

#include <taskscale/probe.hpp>

#include "body.hpp"
#include "fanout.hpp"

inline void declare_nop() { taskscale::param("nop", "live", 0, "tasks alive at once, in batches; 0: all"); }

// A variant that performs `Form`. Answer of an iteration: the number of tasks done.
template <class Form>
void nop(const std::string& name, taskscale::Options options = {}) {
  taskscale::variant("nop", name, std::move(options), [](const Run& run) {
    const Plan plan{run, run.size, at_once(run, "live"), 0};
    if (!run.verify) return Form::discard(plan, Nothing{});
    Count count;
    return count.report(run, Form::discard(plan, Counted{&count, Counted::kNothing}));
  });
}
