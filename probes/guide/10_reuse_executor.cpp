// Claim 10: reuse the executor. From which amount of work on does a new one for each run no longer matter?
//   g++ -std=c++20 -O2 -pthread 10_reuse_executor.cpp -o X
#include "guide.hpp"
using namespace guide;

static u64 run(tf::Executor& executor, u64 tasks, u64 steps) {
  std::vector<u64> slots(tasks);
  tf::Taskflow graph;
  for (u64 i = 0; i < tasks; ++i) graph.emplace([&slots, i, steps] { slots[i] = spin(i, steps); });
  executor.run(graph).wait();
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "A new executor for each run against one that is reused, by the work of a run (claim 10).");
  const u64 tasks = 16;
  Names fresh, reused;
  struct Work { string name; u64 steps, answer; double ns; };
  std::vector<Work> works;
  for (const double us : {1., 10., 100., 1'000., 10'000.}) {
    if (p.quick() && us > 1'000) continue;
    const u64 steps = u64(us * 1'000 / double(tasks));  // a step takes about a nanosecond; the axis is in steps that are made, timed
    u64 sum = 0;
    for (u64 i = 0; i < tasks; ++i) sum += spin(i, steps);
    works.push_back({std::to_string(steps * tasks), steps, sum, double(steps * tasks) * step_ns()});
    fresh.push_back("new/" + works.back().name), reused.push_back("reused/" + works.back().name);
  }
  p.claim({10, "Reuse the executor: its construction can dominate short computations", "wall", {
    ratio("short runs, about 1 us of work: reused against new", "wall_ns", reused[0], fresh[0], {none, 0.5}),
    ratio("the same, CPU time", "cpu_ns", reused[0], fresh[0], {none, 0.5}),
    crossover("work in ns from which on reuse saves less than 5 %", "wall_ns", reused, fresh, 1, 0.95, {}),
    crossover("the same, CPU time", "cpu_ns", reused, fresh, 1, 0.95, {})},
    "wall time, which is what the caller waits; CPU time too. Each sample is a graph of 16 tasks, built, run and destroyed. Idle workers of "
    "the reused executor spin after the run, which is outside the timed part and is told as tail_cpu_ns"});
  for (const Work& w : works) {
    p.arm({"new/" + w.name, 1, w.answer, w.ns}, [w](Sample& s) {
      s.start();
      u64 sum = 0;
      { tf::Executor executor(cores()); sum = run(executor, tasks, w.steps); }
      s.stop();
      return sum;
    });
    p.arm({"reused/" + w.name, 1, w.answer, w.ns}, [w](Sample& s) {
      tf::Executor& kept = executor();
      s.start();
      const u64 sum = run(kept, tasks, w.steps);
      s.stop();
      return sum;
    });
  }
  return p.run();
}
