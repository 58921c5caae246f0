// Claim 41: a semaphore against a mutex, a chain of edges and no bound: not in the guide.
//   g++ -std=c++20 -O2 -pthread 41_semaphore.cpp -o X
#include <mutex>

#include "guide.hpp"
using namespace guide;

namespace {
enum class Way { Free, Mutex, Chain, Semaphore, Wide };  // Wide: as many at once as there are workers, so that none waits

// Where no two tasks may run at once, each adds to one number and looks whether another is in.
u64 run(Sample& s, u64 n, u64 steps, Way way) {
  tf::Executor& executor = guide::executor();
  const bool is_alone = way != Way::Free && way != Way::Wide;
  std::mutex mutex;
  std::atomic<u64> in = 0, out = 0;
  std::atomic<bool> met = false;
  const auto body = [&](u64 i) {
    met = met | (in.fetch_add(1, std::memory_order_relaxed) > 0);
    out.fetch_add(spin(i, steps), std::memory_order_relaxed);
    in.fetch_sub(1, std::memory_order_relaxed);
  };
  tf::Semaphore semaphore(way == Way::Wide ? cores() : 1);
  tf::Taskflow graph;
  tf::Task before;
  for (u64 i = 0; i < n; ++i) {
    tf::Task task = way == Way::Mutex ? graph.emplace([&, i] { std::lock_guard lock(mutex); body(i); }) : graph.emplace([&, i] { body(i); });
    if (way == Way::Semaphore || way == Way::Wide) task.acquire(semaphore), task.release(semaphore);
    if (way == Way::Chain && i > 0) before.precede(task);
    before = task;
  }
  s.settle();
  s.run(executor, graph);
  return out + (is_alone && met);
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "A semaphore against a mutex, a chain and no bound (claim 41, a question).");
  const u64 n = p.size(2'048, 128), few = n / 8;
  const auto sum_of = [](u64 n, u64 steps) { u64 sum = 0; for (u64 i = 0; i < n; ++i) sum += spin(i, steps); return sum; };
  Claim claim{41, "What does a semaphore cost beside a mutex?", "cpu", {
    ratio("one at a time: a semaphore against a mutex", "cpu_ns", "semaphore", "mutex", {}), ratio("the same, wall time", "wall_ns", "semaphore", "mutex", {}),
    ratio("against a chain of edges", "cpu_ns", "semaphore", "chain", {}), ratio("the same, wall time", "wall_ns", "semaphore", "chain", {}),
    difference("a semaphore at which none waits beside none", "cpu_ns", "wide", "free", {}),
    difference("one at a time beside none", "cpu_ns", "semaphore", "free", {}),
    ratio("a task of eight times as many that wait against one", "cpu_ns", "semaphore", "semaphore/few", {}),
    ratio("tasks of 4,096 steps: a semaphore against a mutex", "cpu_ns", "semaphore/long", "mutex/long", {}), ratio("the same, wall time", "wall_ns", "semaphore/long", "mutex/long", {})},
    "CPU time of all workers in a run; a task is 64 steps. A release puts every task that waits back into a queue, each of which asks again. wide: as many at once as there "
    "are workers. A thread that sleeps at a mutex uses no CPU time, which wall time shows"};
  claim.question = true;
  p.claim(claim);
  const auto arm = [&](const string& name, u64 tasks, u64 steps, Way way) { p.arm({name, tasks, sum_of(tasks, steps)}, [=](Sample& s) { return run(s, tasks, steps, way); }); };
  arm("free", n, 64, Way::Free), arm("mutex", n, 64, Way::Mutex), arm("chain", n, 64, Way::Chain), arm("wide", n, 64, Way::Wide);
  arm("semaphore", n, 64, Way::Semaphore), arm("semaphore/few", few, 64, Way::Semaphore);
  arm("semaphore/long", few, 4'096, Way::Semaphore), arm("mutex/long", few, 4'096, Way::Mutex);
  return p.run();
}
