// Claim 40: tasks that a subflow makes against those of a graph. The guide says nothing of it.
//   g++ -std=c++20 -O2 -pthread 40_subflow.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
constexpr u64 kChildren = 8, kSteps = 16;
// Each parent has eight children, and behind it a task that adds up what they left. One that runs
// too early answers wrongly.
struct Flat {
  std::vector<u64> slots, sums;
  explicit Flat(u64 parents) : slots(parents * kChildren), sums(parents) {}
  void child(u64 i) { slots[i] = spin(i, kSteps); }
  void join(u64 parent) { for (u64 i = parent * kChildren; i < (parent + 1) * kChildren; ++i) sums[parent] += slots[i]; }
  u64 answer() const { return std::accumulate(sums.begin(), sums.end(), u64{0}); }
};
enum class Way { Subflow, Node, Inline };

void build(tf::Taskflow& graph, Flat& flat, Way way) {
  for (u64 parent = 0; parent < flat.sums.size(); ++parent) {
    tf::Task after = graph.emplace([&flat, parent] { flat.join(parent); }), before;
    const u64 from = parent * kChildren, to = from + kChildren;
    if (way == Way::Subflow) before = graph.emplace([&flat, from, to](tf::Subflow& flow) { for (u64 i = from; i < to; ++i) flow.emplace([&flat, i] { flat.child(i); }); });
    if (way == Way::Inline) before = graph.emplace([&flat, from, to] { for (u64 i = from; i < to; ++i) flat.child(i); });
    if (way != Way::Node) { before.precede(after); continue; }
    before = graph.emplace([] {});
    for (u64 i = from; i < to; ++i) {
      tf::Task child = graph.emplace([&flat, i] { flat.child(i); });
      before.precede(child), child.precede(after);
    }
  }
}
u64 flat(Sample& s, u64 parents, Way way, bool time_build) {
  tf::Executor& executor = guide::executor();
  Flat flat(parents);
  if (time_build) {
    s.start();
    { tf::Taskflow graph; build(graph, flat, way), executor.run(graph).wait(); }
    s.stop();
    return flat.answer();
  }
  tf::Taskflow graph;
  build(graph, flat, way);
  s.settle();
  s.run(executor, graph);
  return flat.answer();
}

// A binary tree: a task makes two below it, and adds up what they left.
void deep(tf::Subflow& flow, u64 depth, u64 i, u64* out) {
  if (depth == 0) { *out = spin(i, kSteps); return; }
  u64 left = 0, right = 0;
  flow.emplace([=, &left](tf::Subflow& below) { deep(below, depth - 1, 2 * i, &left); });
  flow.emplace([=, &right](tf::Subflow& below) { deep(below, depth - 1, 2 * i + 1, &right); });
  flow.join();
  *out = left + right;
}
u64 nested(Sample& s, u64 depth) {
  u64 out = 0;
  tf::Taskflow graph;
  graph.emplace([&](tf::Subflow& flow) { deep(flow, depth, 1, &out); });
  s.settle();
  s.run(guide::executor(), graph);
  return out;
}
u64 tree(Sample& s, u64 depth, bool time_build) {  // the same additions by nodes that are there
  const u64 leaves = u64{1} << depth;
  std::vector<u64> slots(2 * leaves);
  std::vector<tf::Task> tasks(2 * leaves);
  s.settle();
  if (time_build) s.start();
  tf::Taskflow graph;
  for (u64 i = 1; i < 2 * leaves; ++i) tasks[i] = i < leaves ? graph.emplace([&slots, i] { slots[i] = slots[2 * i] + slots[2 * i + 1]; }) : graph.emplace([&slots, i] { slots[i] = spin(i, kSteps); });
  for (u64 i = 2; i < 2 * leaves; ++i) tasks[i].precede(tasks[i / 2]);
  if (!time_build) s.start();
  guide::executor().run(graph).wait();
  s.stop();
  return slots[1];
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Tasks of a subflow against tasks that the graph has (claim 40, a question).");
  const u64 parents = p.size(512, 32), n = parents * kChildren, depth = p.size(9, 5), leaves = u64{1} << depth;
  u64 sum = 0, deep_sum = 0;
  for (u64 i = 0; i < n; ++i) sum += spin(i, kSteps);
  for (u64 i = leaves; i < 2 * leaves; ++i) deep_sum += spin(i, kSteps);
  Claim claim{40, "What does a task of a subflow cost?", "cpu", {
    difference("a child of a subflow beside a child in the body of its parent", "cpu_ns", "subflow", "inline", {}),
    difference("a child that is a node beside one in the body", "cpu_ns", "node", "inline", {}),
    ratio("subflows against nodes that are there", "cpu_ns", "subflow", "node", {}), ratio("the same, wall time", "wall_ns", "subflow", "node", {}),
    ratio("subflows against nodes, construction too", "cpu_ns", "subflow/built", "node/built", {}), ratio("the same, wall time", "wall_ns", "subflow/built", "node/built", {}),
    ratio("a binary tree: subflows that are joined against nodes that are there", "cpu_ns", "nested", "tree", {}),
    ratio("the same against nodes, construction too", "cpu_ns", "nested", "tree/built", {}), ratio("the same, wall time", "wall_ns", "nested", "tree/built", {})},
    "CPU time of all workers in a run; a child is 16 steps, and each parent has eight. inline: the parent does their work itself. built: a graph is made, run and "
    "destroyed. What workers spin after a run is tail_cpu_ns"};
  claim.question = true;
  p.claim(claim);
  p.arm({"subflow", n, sum}, [=](Sample& s) { return flat(s, parents, Way::Subflow, false); });
  p.arm({"node", n, sum}, [=](Sample& s) { return flat(s, parents, Way::Node, false); });
  p.arm({"inline", n, sum}, [=](Sample& s) { return flat(s, parents, Way::Inline, false); });
  p.arm({"subflow/built", n, sum}, [=](Sample& s) { return flat(s, parents, Way::Subflow, true); });
  p.arm({"node/built", n, sum}, [=](Sample& s) { return flat(s, parents, Way::Node, true); });
  p.arm({"nested", 2 * leaves - 1, deep_sum}, [=](Sample& s) { return nested(s, depth); });
  p.arm({"tree", 2 * leaves - 1, deep_sum}, [=](Sample& s) { return tree(s, depth, false); });
  p.arm({"tree/built", 2 * leaves - 1, deep_sum}, [=](Sample& s) { return tree(s, depth, true); });
  return p.run();
}
