// Claim 12: a task should be 10 to 100 us long. The smallest task whose scheduling leaves 50, 90 and 95 % of the time to work.
//   g++ -std=c++20 -O2 -pthread 12_smallest_task.cpp -o X
#include "guide.hpp"
using namespace guide;

int main(int argc, char** argv) {
  Program p(argc, argv, "Efficiency by the length of a task: the minimum effective task granularity (claim 12).");
  std::vector<u64> steps;
  for (u64 s = 32; s <= p.size(65'536, 2'048); s *= 2) steps.push_back(s);
  const u64 budget = p.size(4'000'000, 200'000);  // steps of a sample
  std::vector<u64> workers{1};
  if (cores() > 1) workers.push_back(cores());
  Claim claim{12, "Each task should represent at least 10 to 100 us of work", "cpu", {},
    "The axis is the length of a task in ns. Efficiency is the time of a plain loop / (workers * wall time of the tasks); by CPU time it is "
    "that of the loop / that of the tasks, where time that workers spin inside the run counts, and what they spin after it does not. The graph is built before. "
    "CPU time, since on a busy machine wall time tells of the neighbours; wall time sees workers that wait, on a quiet one"};
  for (const u64 w : workers) {
    Names serial, tasks;
    for (const u64 s : steps) serial.push_back("loop/" + std::to_string(s)), tasks.push_back("tasks/" + std::to_string(w) + "/" + std::to_string(s));
    for (const int percent : {50, 90, 95}) {
      const Range claimed = percent == 90 ? Range{10e3, 100e3} : Range{};
      const string what = std::to_string(percent) + " %, " + std::to_string(w) + " workers";
      claim.bounds.push_back(crossover(what, "wall_ns", serial, tasks, 1 / double(w), percent / 100., claimed));
      claim.bounds.push_back(crossover(what + ", CPU time", "cpu_ns", serial, tasks, 1, percent / 100., claimed));
    }
  }
  p.claim(claim);
  for (const u64 s : steps) {
    const u64 n = std::max<u64>(budget / s, 2 * cores());
    const double ns = double(s) * step_ns();
    u64 sum = 0;
    for (u64 i = 0; i < n; ++i) sum += spin(i, s);
    p.arm({"loop/" + std::to_string(s), n, sum, ns}, [=](Sample& sample) {
      std::vector<u64> slots(n);
      sample.start();
      for (u64 i = 0; i < n; ++i) slots[i] = spin(i, s);
      sample.stop();
      return std::accumulate(slots.begin(), slots.end(), u64{0});
    });
    for (const u64 w : workers) {
      p.arm({"tasks/" + std::to_string(w) + "/" + std::to_string(s), n, sum, ns}, [=](Sample& sample) {
        std::vector<u64> slots(n);
        tf::Taskflow graph;
        for (u64 i = 0; i < n; ++i) graph.emplace([at = &slots[i], i, s] { *at = spin(i, s); });
        tf::Executor& executor = guide::executor(w);
        sample.run(executor, graph);
        return std::accumulate(slots.begin(), slots.end(), u64{0});
      });
    }
  }
  return p.run();
}
