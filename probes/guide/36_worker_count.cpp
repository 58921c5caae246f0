// Claim 36: for work that uses the CPU a worker for each hardware thread is usually best; where tasks wait too, more may help.
//   g++ -std=c++20 -O2 -pthread 36_worker_count.cpp -o X
#include "guide.hpp"
using namespace guide;

static u64 run(Sample& s, u64 n, u64 workers, u64 steps, u64 wait_us) {
  tf::Executor& executor = guide::executor(workers);
  std::vector<u64> slots(n);
  tf::Taskflow graph;
  for (u64 i = 0; i < n; ++i) graph.emplace([at = &slots[i], i, steps, wait_us] {
    *at = spin(i, steps);
    if (wait_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
  });
  s.settle();
  s.run(executor, graph);
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "Workers from one to twice the hardware threads, for work alone and for work that waits (claim 36).");
  const u64 all = cores(), n = p.size(64, 16) * all, steps = 50'000, wait_us = 50;
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += spin(i, steps);
  std::vector<u64> counts{1};
  for (const u64 w : {all / 2, all, all + all / 2, all * 2}) if (w > counts.back()) counts.push_back(w);
  const string best = std::to_string(all), twice = std::to_string(all * 2);
  Claim claim{36, "As many workers as hardware threads is usually best for work on the CPU; for mixed work more may help", "wall", {},
    "wall time; a waiting task sleeps as long as it works, about 50 us. CPU time of a run has in it what workers without a task spin before they sleep"};
  Names busy, mixed;
  for (const u64 w : counts) {
    busy.push_back("busy/" + std::to_string(w)), mixed.push_back("mixed/" + std::to_string(w));
    p.arm({busy.back(), n, sum, double(w)}, [=](Sample& s) { return run(s, n, w, steps, 0); });
    p.arm({mixed.back(), n, sum, double(w)}, [=](Sample& s) { return run(s, n, w, steps, wait_us); });
    if (w != all) claim.bounds.push_back(ratio(best + " workers take no more than " + std::to_string(w), "wall_ns", "busy/" + best, busy.back(), {none, 1, true}));
  }
  claim.bounds.push_back(ratio("tasks that wait: " + twice + " workers take less than " + best, "wall_ns", "mixed/" + twice, "mixed/" + best, {none, 1}));
  claim.bounds.push_back(report("work alone, by workers", "wall_ns", busy)), claim.bounds.push_back(report("work and waiting, by workers", "wall_ns", mixed));
  p.claim(claim);
  return p.run();
}
