// The seven patterns in oneTBB, as they are and with the digest's advice taken (program.hpp). oneTBB shows no tasks to anyone:
// each thread of the arena gets its worker of the observer (cpp/examples/onetbb.cpp), and tasks are wrapped.
#include <taskscale/taskscale.h>

#include <memory>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>

#include "program.hpp"

namespace {

// A task of 80 steps takes some 100 ns.
constexpr long kTiny = 4000000, kSteps = 80;

thread_local taskscale_worker* here = nullptr;

class Observed : public tbb::task_scheduler_observer {
 public:
  Observed(tbb::task_arena& arena, int workers)
      : tbb::task_scheduler_observer(arena), observer_(taskscale_observer_new(TASKSCALE_ABI, "onetbb", std::uint32_t(workers), 0)) {
    observe(true);
  }
  ~Observed() override {
    observe(false);
    taskscale_observer_free(observer_);
  }
  void on_scheduler_entry(bool) override {
    here = taskscale_observer_worker(observer_, std::uint32_t(tbb::this_task_arena::current_thread_index()));
  }
  void on_scheduler_exit(bool) override { here = nullptr; }
  std::string write(std::uint32_t format) {
    // The second digest may be longer than the first.
    std::string out(taskscale_observer_write(observer_, format, nullptr, 0) + 256, '\0');
    taskscale_observer_write(observer_, format, &out[0], out.size());
    return out.c_str();
  }

 private:
  taskscale_observer* observer_;
};

// Runs a body as a span of that name.
template <typename Body>
void seen(const char* name, Body body) {
  taskscale_worker* const worker = here;
  if (worker) taskscale_begin(worker);
  body();
  if (worker) taskscale_end(worker, name, std::strlen(name));
}

void start(tbb::task_group& group, int tasks, double ms, const char* name) {
  for (int i = 0; i < tasks; ++i) group.run([=] { seen(name, [=] { hold(ms); }); });
}

// The steps that one worker was given: each starts the next.
void chain(tbb::task_group& group, int left) {
  group.run([&group, left] {
    seen("step", [] { hold(kStepMs); });
    if (left > 1) chain(group, left - 1);
  });
}

void children(tbb::task_group& group) {
  group.run([] { seen("long", [] { spin(kLongMs); }); });
  for (int i = 0; i < kShorts; ++i) group.run([] { seen("short", [] { spin(kShortMs); }); });
}

void run(const Arguments& given) {
  const int by = given.fixed ? given.by : 1;
  tbb::task_group group;
  if (given.pattern == "HEALTHY") {
    for (int i = 0; i < kHealthyTasks; ++i) group.run([] { seen("step", [] { spin(kHealthyMs); }); });
  } else if (given.pattern == "SCHEDULING_OVERHEAD") {
    // A task for each `by` items. As the grain of a range of items `by` would give half as many, or fewer: a range is halved.
    tbb::parallel_for(
        tbb::blocked_range<long>(0, kTiny / by, 1),
        [by](const tbb::blocked_range<long>& batches) {
          seen("batch", [&] {
            for (long i = batches.begin() * by; i < batches.end() * by; ++i) compute(kSteps);
          });
        },
        tbb::simple_partitioner());
  } else if (given.pattern == "SERIAL_BOTTLENECK") {
    for (int round = 0; round < kRounds; ++round) {
      start(group, by, kAloneMs / by, "alone");
      group.wait();
      start(group, kAtOnce, kStepMs, "step");
      group.wait();
    }
  } else if (given.pattern == "LOAD_IMBALANCE") {
    for (int i = 0; i < kSleepers; ++i) {
      const int length = i == 0 ? kLongest : kShorter;
      given.fixed ? start(group, length * by, kStepMs / by, "step") : chain(group, length);
    }
  } else if (given.pattern == "STRAGGLER_TASKS") {
    start(group, by, kWhaleMs / by, "whale");
    start(group, kMinnows, kMinnowMs, "minnow");
  } else if (given.pattern == "UNDER_DECOMPOSITION") {
    start(group, 2 * by, kHalfMs / by, "half");
  } else if (given.pattern == "RECURSIVE_OVERLAP") {
    for (int i = 0; i < kParents; ++i) {
      const bool wait = !given.fixed;
      group.run([&group, wait] {
        seen("parent", [&group, wait] {
          tbb::task_group inner;
          children(wait ? inner : group);
          inner.wait();
        });
      });
      if (wait) group.wait();
    }
  } else {
    std::fprintf(stderr, "no such pattern: %s\n", given.pattern.c_str());
    std::exit(2);
  }
  group.wait();
}

int workers(const std::string& pattern) {
  if (pattern == "SCHEDULING_OVERHEAD") return 1;
  return pattern == "HEALTHY" || pattern == "RECURSIVE_OVERLAP" ? kComputing : kSleepers;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments given = arguments(argc, argv);
  const int threads = workers(given.pattern);
  tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, std::size_t(threads));
  tbb::task_arena arena(threads);
  std::unique_ptr<Observed> observed;
  if (given.observed) observed = std::make_unique<Observed>(arena, threads);
  const Times times = timed([&] { arena.execute([&] { run(given); }); });
  const std::string text = observed ? observed->write(TASKSCALE_TEXT) : "";
  return print(times, text.size(), observed ? observed->write(TASKSCALE_JSON) : "");
}
