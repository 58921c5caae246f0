// Claim 34: the macros for the notifier, exceptions and the pool of tasks change what a task costs.
//   g++ -std=c++20 -O2 -pthread 34_macros.cpp -o X
// The other arms are this program, compiled with the flags that its first line tells:
//   g++ -std=c++20 -O2 -pthread -DTF_ENABLE_TASK_POOL 34_macros.cpp -o Y; ./X --build task_pool=./Y
#include "guide.hpp"
using namespace guide;

// Graphs of empty tasks are built, run and destroyed one after another; then many small runs, for which workers sleep and wake.
static u64 work(Sample& s, u64 n) {
  tf::Executor& executor = guide::executor();
  std::atomic<u64> done = 0;
  s.start();
  for (u64 i = 0; i < 10; ++i) {
    tf::Taskflow graph;
    for (u64 k = 0; k < n; ++k) graph.emplace([] {});
    graph.emplace([&] { ++done; });
    executor.run(graph).wait();
  }
  tf::Taskflow small;
  for (u64 k = 0; k < 4; ++k) small.emplace([&] { ++done; });
  for (u64 i = 0; i < n / 20; ++i) executor.run(small).wait();
  s.stop();
  return done;
}

int main(int argc, char** argv) {
  Program p(argc, argv, "The macros of Taskflow that change what a task costs (claim 34).");
  const u64 n = p.size(2'000, 200), right = 10 + n / 20 * 4, tasks = 10 * (n + 1) + n / 20 * 4;
  struct { const char *name, *flags, *takes; } macros[] = {{"atomic_notifier", "-DTF_ENABLE_ATOMIC_NOTIFIER", "another notifier"},
    {"no_exceptions", "-DTF_DISABLE_EXCEPTION_HANDLING", "no try and catch around tasks"}, {"task_pool", "-DTF_ENABLE_TASK_POOL", "nodes from a pool"}};
  Claim claim{34, "The macros for the notifier, exceptions and the pool of tasks change the cost", "cpu", {},
    "CPU time of building, running and destroying graphs of empty tasks, and of small runs; spinning within the runs is part of it. Each sample in a process of its own. "
    "An effect counts where the interval of the ratio is wholly on one side of 1; again is the first program once more"};
  claim.bounds.push_back(ratio("again against default: what the machine adds", "cpu_ns", "again", "default", {}));
  p.arm({"default", tasks, right, none, true}, [=](Sample& s) { return work(s, n); });
  p.arm({"again", tasks, right, none, true}, [=](Sample& s) { return work(s, n); });
  for (const auto& macro : macros) {
    claim.bounds.push_back(pair("effect", macro.takes, "cpu_ns", macro.name, "default", {}));
    p.arm({macro.name, tasks, right, none, true, macro.flags}, [=](Sample& s) { return work(s, n); });
  }
  p.claim(claim);
  return p.run();
}
