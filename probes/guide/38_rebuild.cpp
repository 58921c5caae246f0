// Claim 38: a taskflow that runs again against one that is built anew. The guide has no figure.
//   g++ -std=c++20 -O2 -pthread 38_rebuild.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
constexpr u64 kRuns = 4, kChain = 8;
void build(tf::Taskflow& graph, std::vector<u64>& slots, u64 steps) {
  tf::Task before;
  for (u64 i = 0; i < slots.size(); ++i) {
    tf::Task task = graph.emplace([at = &slots[i], i, steps] { *at += spin(i, steps); });
    if (i % kChain != 0) before.precede(task);
    before = task;
  }
}
// Four runs of n tasks in chains of eight.
template <class Runs> u64 timed(Sample& s, u64 n, Runs runs) {
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  runs(executor, slots, [&] { s.settle(), s.start(); });
  s.stop();
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "A taskflow that runs again against one that is built anew for each run (claim 38, a question).");
  const u64 n = p.size(512, 64);
  Names built, again;
  struct Work { string name; u64 steps, answer; double ns; };
  std::vector<Work> works;
  for (u64 steps = 1; steps <= p.size(4'096, 16); steps *= 4) {
    if (steps == 4) continue;  // as short as the first beside what an empty task takes
    u64 sum = 0;
    for (u64 i = 0; i < n; ++i) sum += kRuns * spin(i, steps);
    works.push_back({std::to_string(steps), steps, sum, double(steps) * step_ns()});
    built.push_back("rebuilt/" + works.back().name), again.push_back("again/" + works.back().name);
  }
  Claim claim{38, "What does it save to run a taskflow again and not to build it anew?", "cpu", {
    ratio("the finest tasks: again against built anew", "cpu_ns", again[0], built[0], {}), ratio("the same, wall time", "wall_ns", again[0], built[0], {}),
    ratio("the finest: cleared and built anew against a new one", "cpu_ns", "cleared/1", built[0], {}),
    ratio("the finest: run_n against run after run", "cpu_ns", "run_n/1", again[0], {}),
    ratio("the same, wall time", "wall_ns", "run_n/1", again[0], {}),
    crossover("length of a task from which on it saves less than 5 %", "cpu_ns", again, built, 1, 0.95, {}),
    crossover("the same, wall time", "wall_ns", again, built, 1, 0.95, {})},
    "CPU time of all threads over four runs of 512 tasks in chains of eight. rebuilt: a new taskflow for each run, destroyed after it. again: one that "
    "was built before. What workers spin after the last run is tail_cpu_ns; between runs it counts"};
  claim.question = true;
  p.claim(claim);
  for (const Work& w : works) {
    p.arm({"rebuilt/" + w.name, n * kRuns, w.answer, w.ns}, [=](Sample& s) { return timed(s, n, [=](tf::Executor& executor, std::vector<u64>& slots, auto start) {
      start();
      for (u64 run = 0; run < kRuns; ++run) { tf::Taskflow graph; build(graph, slots, w.steps), executor.run(graph).wait(); }
    }); });
    p.arm({"again/" + w.name, n * kRuns, w.answer, w.ns}, [=](Sample& s) {
      tf::Taskflow graph;  // destroyed outside the timed part, as it was built there
      return timed(s, n, [&](tf::Executor& executor, std::vector<u64>& slots, auto start) {
        build(graph, slots, w.steps), start();
        for (u64 run = 0; run < kRuns; ++run) executor.run(graph).wait();
      });
    });
  }
  const Work first = works[0];
  p.arm({"cleared/1", n * kRuns, first.answer}, [=](Sample& s) {
    tf::Taskflow graph;
    return timed(s, n, [&](tf::Executor& executor, std::vector<u64>& slots, auto start) {
      start();
      for (u64 run = 0; run < kRuns; ++run) build(graph, slots, first.steps), executor.run(graph).wait(), graph.clear();
    });
  });
  p.arm({"run_n/1", n * kRuns, first.answer}, [=](Sample& s) {
    tf::Taskflow graph;
    return timed(s, n, [&](tf::Executor& executor, std::vector<u64>& slots, auto start) {
      build(graph, slots, first.steps), start();
      executor.run_n(graph, kRuns).wait();
    });
  });
  return p.run();
}
