// The seven patterns in Taskflow, as they are and with the digest's advice taken (program.hpp).
#include <taskscale/taskflow.hpp>

#include <sstream>
#include <vector>

#include "program.hpp"

namespace {

// Items, and the steps of one, some 60 ns. So many nodes fit into no cache: a worker takes as long to fetch one.
constexpr long kItems = 480000, kSteps = 80;

using Tasks = std::vector<tf::Task>;

void after(const Tasks& before, const Tasks& tasks) {
  for (tf::Task one : before)
    for (tf::Task other : tasks) one.precede(other);
}

Tasks independent(tf::Taskflow& graph, int tasks, double ms, const char* name) {
  Tasks all;
  for (int i = 0; i < tasks; ++i) all.push_back(graph.emplace([ms] { hold(ms); }).name(name));
  return all;
}

void chain(tf::Taskflow& graph, int length) {
  Tasks before;
  for (int i = 0; i < length; ++i) {
    Tasks task = independent(graph, 1, kStepMs, "step");
    after(before, task);
    before = task;
  }
}

// A tree: each task lets two others go. One task that runs again and again would cost less by itself than its work hides: a
// processor schedules the next while it waits for the results of this one.
void tiny(tf::Taskflow& graph, int by) {
  Tasks all;
  for (long i = 0; i < kItems / by; ++i) {
    all.push_back(graph.emplace([by] {
      for (int j = 0; j < by; ++j) compute(kSteps);
    }));
    if (i > 0) all[std::size_t(i - 1) / 2].precede(all.back());
  }
}

void serial(tf::Taskflow& graph, int pieces) {
  Tasks before;
  for (int round = 0; round < kRounds; ++round) {
    Tasks alone = independent(graph, pieces, kAloneMs / pieces, "alone");
    Tasks others = independent(graph, kAtOnce, kStepMs, "step");
    after(before, alone);
    after(alone, others);
    before = others;
  }
}

// Each parent starts a long child and some short ones: it waits for them inside of itself, or leaves them to whoever comes.
void parents(tf::Taskflow& graph, tf::Executor& executor, bool wait) {
  Tasks before;
  for (int i = 0; i < kParents; ++i) {
    Tasks parent{graph.emplace([&executor, wait] {
      if (wait) {
        tf::Taskflow family;
        family.emplace([] { spin(kLongMs); }).name("long");
        for (int j = 0; j < kShorts; ++j) family.emplace([] { spin(kShortMs); }).name("short");
        executor.corun(family);
      } else {
        executor.silent_async([] { spin(kLongMs); });
        for (int j = 0; j < kShorts; ++j) executor.silent_async([] { spin(kShortMs); });
      }
    }).name("parent")};
    after(before, parent);
    before = parent;
  }
}

std::size_t workers(const std::string& pattern) {
  if (pattern == "SCHEDULING_OVERHEAD" || pattern == "FANOUT") return 1;
  return pattern == "HEALTHY" || pattern == "RECURSIVE_OVERLAP" ? kComputing : kSleepers;
}

bool fill(tf::Taskflow& graph, tf::Executor& executor, const Arguments& given) {
  const int by = given.fixed ? given.by : 1;
  if (given.pattern == "HEALTHY") {
    for (int i = 0; i < kHealthyTasks; ++i) graph.emplace([] { spin(kHealthyMs); }).name("step");
  } else if (given.pattern == "SCHEDULING_OVERHEAD") {
    tiny(graph, by);
  } else if (given.pattern == "SERIAL_BOTTLENECK") {
    serial(graph, by);
  } else if (given.pattern == "LOAD_IMBALANCE") {
    // A chain is what one worker was given; without the order any worker takes the next step.
    for (int i = 0; i < kSleepers; ++i) {
      const int length = i == 0 ? kLongest : kShorter;
      given.fixed ? void(independent(graph, length * by, kStepMs / by, "step")) : chain(graph, length);
    }
  } else if (given.pattern == "STRAGGLER_TASKS") {
    independent(graph, by, kWhaleMs / by, "whale");
    independent(graph, kMinnows, kMinnowMs, "minnow");
  } else if (given.pattern == "UNDER_DECOMPOSITION") {
    independent(graph, 2 * by, kHalfMs / by, "half");
  } else if (given.pattern == "RECURSIVE_OVERLAP") {
    parents(graph, executor, !given.fixed);
  } else {
    return false;
  }
  return true;
}

// What `sweep` varies: so many independent tasks of `by` steps, or in place of them the steps alone. The graph is made, run and
// destroyed in the timed part; the digest is of the run.
int fanout(const Arguments& given, long tasks) {
  // A whole number of graphs.
  tasks = tasks <= 256 ? tasks : tasks / 256 * 256;
  if (given.pattern == "KERNEL") {
    const Times times = timed([&] {
      for (long i = 0; i < tasks; ++i) compute(given.by);
    });
    return print(times, 0, "");
  }
  tf::Executor executor(workers(given.pattern));
  std::shared_ptr<taskscale::DigestObserver> observer;
  if (given.observed) observer = executor.make_observer<taskscale::DigestObserver>();
  const auto pass = [&](long at_once) {
    tf::Taskflow graph;
    for (long i = 0; i < at_once; ++i) graph.emplace([steps = given.by] { compute(steps); });
    if (observer) observer->clear();
    executor.run(graph).wait();
  };
  // Observed they are one graph, since there is no verdict on a few microseconds; else graphs of 256, as in the suite.
  const long at_once = given.observed ? tasks : std::min(tasks, 256L);
  pass(at_once);  // which fetches memory from the system
  const Times times = timed([&] {
    for (long done = 0; done < tasks; done += at_once) pass(at_once);
  });
  return print(times, 0, observer ? observer->json() : "");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments given = arguments(argc, argv);
  if (given.pattern == "FANOUT" || given.pattern == "KERNEL") return fanout(given, std::atol(argv[2]));
  tf::Executor executor(workers(given.pattern));
  std::shared_ptr<taskscale::DigestObserver> observer;
  if (given.observed) observer = executor.make_observer<taskscale::DigestObserver>();
  tf::Taskflow graph;
  if (!fill(graph, executor, given)) return std::fprintf(stderr, "no such pattern: %s\n", given.pattern.c_str()), 2;
  if (observer) observer->clear();
  // The calling thread prepares each node for the run, which the digest does not see: its CPU time is not the workers'.
  const double own = cpu_seconds(RUSAGE_THREAD);
  Times times = timed([&] {
    executor.run(graph).wait();
    executor.wait_for_all();
  });
  times.cpu -= cpu_seconds(RUSAGE_THREAD) - own;
  std::ostringstream text;
  if (observer) observer->digest(text);
  return print(times, text.str().size(), observer ? observer->json() : "");
}
