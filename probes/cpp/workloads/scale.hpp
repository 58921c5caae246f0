// `scale`: `size` tasks that a given number of workers shares.
//
// A pool is a class that is made of a number of workers, and whose `pass(size, body)` does all tasks once. It is made before the
// timed part, and kept for later requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <taskscale/probe.hpp>

#include "body.hpp"
#include "count.hpp"

namespace scale {

constexpr std::uint64_t kMostWorkers = 1'000;

// The parameters, and a variant that performs `Pool`. Answer of an iteration: the sum of the tasks' results.
template <class Pool>
void declare(const std::string& name, taskscale::Options options = {}) {
  taskscale::param("scale", "workers", 1, "threads that run tasks");
  taskscale::param("scale", "work", 0, "steps of spin per task; 0: the task gives 31 * i");
  taskscale::variant("scale", name, std::move(options), [](const taskscale::Run& run) {
    static std::unique_ptr<Pool> pool;
    static std::uint64_t of = 0;
    const std::uint64_t workers = run.integer("workers");
    if (workers < 1 || workers > kMostWorkers) {
      throw taskscale::Refused("workers is " + std::to_string(workers) + "; give 1 to " + std::to_string(kMostWorkers));
    }
    if (workers != of) {
      pool.reset();
      pool = std::make_unique<Pool>(static_cast<std::size_t>(workers));
      of = workers;
    }
    const auto perform = [&](const auto& body) {
      return run.time([&](taskscale::Phases&) { return pool->pass(run.size, body); });
    };
    const Spun spun(run.seed, run.integer("work"));
    if (!run.verify) return spun.work == 0 ? perform(Plain{}) : perform(spun);
    Count count;
    return count.report(run, perform(Counted{&count, spun.work == 0 ? Counted::kPlain : Counted::kSpun, spun}));
  });
}

}  // namespace scale
