// Claim 35: the wall time of a single run is noisy at the level of a few percent.
//   g++ -std=c++20 -O2 -pthread 35_noise.cpp -o X
#include "guide.hpp"
using namespace guide;

static u64 run(Sample& s, u64 n) {
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  tf::Taskflow graph;
  for (u64 i = 0; i < n; ++i) graph.emplace([at = &slots[i], i] { *at = spin(i, 10'000); });
  s.run(executor, graph);
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "The same run twice: how far single runs differ (claim 35).", 200);
  const u64 n = p.size(500, 20);
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += spin(i, 10'000);
  p.claim({35, "The wall time of a single run is noisy at the few-percent level", "wall", {
    pair("spread", "p90 of |one / other - 1|, wall time", "wall_ns", "one", "other", {0.01, 0.1}), pair("spread", "the same, CPU time", "cpu_ns", "one", "other", {})},
    "wall time of one run, whose graph is built before; a few percent is read as 1 to 10"});
  p.arm({"one", n, sum}, [=](Sample& s) { return run(s, n); });
  p.arm({"other", n, sum}, [=](Sample& s) { return run(s, n); });
  return p.run();
}
