// Claim 28: one graph with one barrier at its end beats batches with a barrier each.
//   g++ -std=c++20 -O2 -pthread 28_barriers.cpp -o X
#include "guide.hpp"
using namespace guide;

// `layers` layers of tasks; a task comes after that of its column. As one graph, or as a graph for each layer.
static u64 run(Sample& s, u64 n, u64 layers, bool whole) {
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  const u64 width = n / layers;
  std::vector<tf::Taskflow> graphs(whole ? 1 : layers);
  std::vector<tf::Task> before(width);
  for (u64 layer = 0; layer < layers; ++layer) for (u64 x = 0; x < width; ++x) {
    tf::Task task = graphs[whole ? 0 : layer].emplace([at = &slots[layer * width + x], i = layer * width + x] { *at = spin(i, 256); });
    if (whole && layer > 0) before[x].precede(task);
    before[x] = task;
  }
  s.settle();
  s.start();
  for (tf::Taskflow& graph : graphs) executor.run(graph).wait();
  s.stop();
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "One graph against batches with a barrier after each (claim 28).");
  const u64 n = p.size(8'192, 1'024);
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += spin(i, 256);
  Claim claim{28, "One barrier beats many", "wall", {}, "wall time of runs; the graphs are built before. A task is 256 steps, about 0.4 us. CPU time is shown: a barrier is a wait, and only workers that spin between batches count"};
  Names batches;
  for (u64 layers = 2; layers <= 1'024; layers *= 8) {
    const string end = "/" + std::to_string(layers);
    batches.push_back("batches" + end);
    claim.bounds.push_back(ratio(std::to_string(layers) + " batches to one graph", "wall_ns", "batches" + end, "whole" + end, {1, none}));
    claim.bounds.push_back(ratio(std::to_string(layers) + " batches to one graph, CPU time", "cpu_ns", "batches" + end, "whole" + end, {}));
    p.arm({"whole" + end, n, sum, double(layers)}, [=](Sample& s) { return run(s, n, layers, true); });
    p.arm({"batches" + end, n, sum, double(layers)}, [=](Sample& s) { return run(s, n, layers, false); });
  }
  claim.bounds.push_back(slope("what a barrier takes, of the sample", "wall_ns/sample", batches, {0, none}));
  p.claim(claim);
  return p.run();
}
