// Claim 6: up to four edges of a task are stored in place.
//   g++ -std=c++20 -O2 -pthread 06_inline_edges.cpp -o X
#define GUIDE_COUNTS_ALLOCATIONS
#include "guide.hpp"
using namespace guide;

// n centres, each with its own neighbours: `out` after it, `in` before it. A neighbour has one edge, which fits anywhere.
static u64 connect(Sample& s, u64 n, u64 out, u64 in) {
  tf::Taskflow graph;
  std::vector<tf::Task> centres, neighbours;
  for (u64 i = 0; i < n; ++i) centres.push_back(graph.emplace([] {}));
  for (u64 i = 0; i < n * (out + in); ++i) neighbours.push_back(graph.emplace([] {}));
  allocations = 0;
  s.start();
  for (u64 i = 0, at = 0; i < n; ++i) {
    for (u64 d = 0; d < out; ++d) centres[i].precede(neighbours[at++]);
    for (u64 d = 0; d < in; ++d) centres[i].succeed(neighbours[at++]);
  }
  s.stop();
  s.also("allocations", double(allocations));
  u64 edges = 0;
  graph.for_each_task([&](tf::Task t) { edges += t.num_successors(); });
  return edges;
}

int main(int argc, char** argv) {
  Program p(argc, argv, "Allocations by the number of a task's edges (claim 6).", 10);
  const u64 n = p.size(10'000, 500);
  Names outs, ins;
  for (u64 d = 1; d <= 8; ++d) outs.push_back("out/" + std::to_string(d)), ins.push_back("in/" + std::to_string(d));
  p.claim({6, "Up to 4 edges are stored inline; beyond 4 they spill to the heap", "none", {
    value("4 out: none", "allocations", "out/4", {none, 0.01}), value("5 out: one", "allocations", "out/5", {0.99, none}),
    value("4 in: none", "allocations", "in/4", {none, 0.01}), value("5 in: one", "allocations", "in/5", {0.99, none}),
    value("4 in and 4 out, if each direction has its own 4: none", "allocations", "both/4", {none, 0.01}),
    report("time for the edges of a task", "cpu_ns", outs), report("allocations by out-degree", "allocations", outs),
    report("allocations by in-degree", "allocations", ins), report("allocations, in and out", "allocations", {"both/1", "both/2", "both/3", "both/4"})},
    "allocations are counted, per task with so many edges; the time is CPU time of one thread without an executor"});
  for (u64 d = 1; d <= 8; ++d) p.arm({"out/" + std::to_string(d), n, n * d, double(d)}, [=](Sample& s) { return connect(s, n, d, 0); });
  for (u64 d = 1; d <= 8; ++d) p.arm({"in/" + std::to_string(d), n, n * d, double(d)}, [=](Sample& s) { return connect(s, n, 0, d); });
  for (u64 d = 1; d <= 4; ++d) p.arm({"both/" + std::to_string(d), n, n * d * 2, double(d)}, [=](Sample& s) { return connect(s, n, d, d); });
  return p.run();
}
