// Claim 37: asynchronous tasks against a graph. The guide says nothing of it.
//   g++ -std=c++20 -O2 -pthread 37_async.cpp -o X
#include <future>

#include "guide.hpp"
using namespace guide;

namespace {
constexpr u64 kSteps = 16, kChain = 8;
// A task of a chain adds to what the one before left, so that an answer tells their order.
struct Body {
  u64 *at, i;
  bool follows;
  void operator()() const { *at = spin(i, kSteps) + (follows ? at[-1] : 0); }
};
u64 total(const std::vector<u64>& slots) { return std::accumulate(slots.begin(), slots.end(), u64{0}); }

void build(tf::Taskflow& graph, std::vector<u64>& slots, bool chains) {
  tf::Task before;
  for (u64 i = 0; i < slots.size(); ++i) {
    const bool follows = chains && i % kChain != 0;
    tf::Task task = graph.emplace(Body{&slots[i], i, follows});
    if (follows) before.precede(task);
    before = task;
  }
}
u64 whole(Sample& s, u64 n, bool chains) {  // as much of a graph as asynchronous tasks do: made, run, destroyed
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  s.start();
  { tf::Taskflow graph; build(graph, slots, chains), executor.run(graph).wait(); }
  s.stop();
  return total(slots);
}
u64 again(Sample& s, u64 n, bool chains) {  // a graph that is there
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  tf::Taskflow graph;
  build(graph, slots, chains);
  s.settle();
  s.run(executor, graph);
  return total(slots);
}
template <class Make> u64 made(Sample& s, u64 n, Make make) {
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  s.start();
  make(executor, slots);
  executor.wait_for_all();
  s.stop();
  return total(slots);
}
void outside(tf::Executor& executor, std::vector<u64>& slots) {
  for (u64 i = 0; i < slots.size(); ++i) executor.silent_async(Body{&slots[i], i, false});
}
void inside(tf::Executor& executor, std::vector<u64>& slots) {  // one task makes them, in the queue of its worker
  executor.silent_async([&] { outside(executor, slots); });
}
void futures(tf::Executor& executor, std::vector<u64>& slots) {
  std::vector<std::future<void>> all;
  all.reserve(slots.size());
  for (u64 i = 0; i < slots.size(); ++i) all.push_back(executor.async(Body{&slots[i], i, false}));
  for (auto& one : all) one.get();
}
void dependent(tf::Executor& executor, std::vector<u64>& slots) {
  tf::AsyncTask before;
  for (u64 i = 0; i < slots.size(); ++i) {
    const Body body{&slots[i], i, i % kChain != 0};
    before = body.follows ? executor.silent_dependent_async(body, before) : executor.silent_dependent_async(body);
  }
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Asynchronous tasks against a graph (claim 37, a question).");
  const u64 n = p.size(4'096, 256);
  u64 sum = 0, chained = 0, before = 0;
  for (u64 i = 0; i < n; ++i) {
    const u64 own = spin(i, kSteps);
    before = i % kChain == 0 ? own : before + own;
    sum += own, chained += before;
  }
  Claim claim{37, "Do asynchronous tasks cost less than a graph that runs once?", "cpu", {
    ratio("silent_async against a graph that is made, run and destroyed", "cpu_ns", "silent_async", "graph", {}),
    ratio("the same, wall time", "wall_ns", "silent_async", "graph", {}),
    ratio("the same, made by a task", "cpu_ns", "silent_async/inside", "graph", {}),
    ratio("async with a future against the graph", "cpu_ns", "async", "graph", {}),
    ratio("silent_async against a graph that is there", "cpu_ns", "silent_async", "graph/there", {}),
    ratio("chains of 8: silent_dependent_async against a graph", "cpu_ns", "dependent/chains", "graph/chains", {}),
    ratio("the same, wall time", "wall_ns", "dependent/chains", "graph/chains", {}),
    ratio("chains of 8: against a graph that is there", "cpu_ns", "dependent/chains", "graph/chains/there", {})},
    "CPU time of all threads from the first task made to the last one done; a task is 16 steps. What workers spin after the last one is tail_cpu_ns"};
  claim.question = true;
  p.claim(claim);
  p.arm({"graph", n, sum}, [=](Sample& s) { return whole(s, n, false); });
  p.arm({"graph/there", n, sum}, [=](Sample& s) { return again(s, n, false); });
  p.arm({"silent_async", n, sum}, [=](Sample& s) { return made(s, n, outside); });
  p.arm({"silent_async/inside", n, sum}, [=](Sample& s) { return made(s, n, inside); });
  p.arm({"async", n, sum}, [=](Sample& s) { return made(s, n, futures); });
  p.arm({"graph/chains", n, chained}, [=](Sample& s) { return whole(s, n, true); });
  p.arm({"graph/chains/there", n, chained}, [=](Sample& s) { return again(s, n, true); });
  p.arm({"dependent/chains", n, chained}, [=](Sample& s) { return made(s, n, dependent); });
  return p.run();
}
