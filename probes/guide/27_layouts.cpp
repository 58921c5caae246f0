// Claim 27: layouts that should not matter: a vector of vectors, handles in three dimensions, a rolling window of handles.
//   g++ -std=c++20 -O2 -pthread 27_layouts.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
constexpr u64 kGroups = 4, kWidth = 64;
// In each group `layers` layers of tasks, each after the one of its column and its left neighbour in the layer before.
template <class Make, class At> u64 build(Sample& s, u64 layers, Make make, At at) {
  tf::Taskflow graph;
  u64 made = 0;
  s.start();
  auto store = make();
  for (u64 g = 0; g < kGroups; ++g) for (u64 t = 0; t < layers; ++t) for (u64 x = 0; x < kWidth; ++x) {
    tf::Task task = at(store, g, t, x) = graph.emplace([] {});
    if (t > 0) at(store, g, t - 1, x).precede(task), ++made;
    if (t > 0 && x > 0) at(store, g, t - 1, x - 1).precede(task), ++made;
  }
  s.stop();
  return made;
}
// What the body reads: a flat buffer, or a vector of vectors.
u64 read(Sample& s, u64 rows, u64 columns, bool nested) {
  tf::Executor& executor = guide::executor(1);
  std::vector<u64> flat(rows * columns, 1);
  std::vector<std::vector<u64>> vectors(rows, std::vector<u64>(columns, 1));
  u64 sum = 0;  // of one worker
  tf::Taskflow graph;
  for (u64 y = 0; y < rows; ++y) for (u64 x = 0; x < columns; ++x) {
    if (nested) graph.emplace([&vectors, &sum, y, x] { sum += vectors[y][x]; });
    else graph.emplace([&flat, &sum, row = y * columns, x] { sum += flat[row + x]; });
  }
  s.settle();
  s.run(executor, graph);
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Layouts of handles and data, for each task (claim 27).");
  const u64 layers = p.size(64, 8), n = kGroups * layers * kWidth, made = kGroups * (layers - 1) * (2 * kWidth - 1);
  using Task = tf::Task;
  p.claim({27, "A vector of vectors and handles in three dimensions cost about 1 ns a task, a rolling window 0", "cpu", {
    difference("vector of vectors less flat buffer, read by tasks", "cpu_ns", "read_nested", "read_flat", {none, 2}),
    difference("three dimensions less flat", "cpu_ns", "handles_3d", "handles_flat", {none, 2}), difference("rolling window less all handles", "cpu_ns", "rolling", "handles_flat", {none, 2})},
    "CPU time of construction by one thread; for the vector of vectors, of a run by one worker. About 1 ns is read as at most 2 more: a layout that is cheaper costs nothing"});
  p.arm({"handles_flat", n, made}, [=](Sample& s) { return build(s, layers, [=] { return std::vector<Task>(n); },
    [=](auto& store, u64 g, u64 t, u64 x) -> Task& { return store[(g * layers + t) * kWidth + x]; }); });
  p.arm({"handles_3d", n, made}, [=](Sample& s) { return build(s, layers, [=] { return std::vector(kGroups, std::vector(layers, std::vector<Task>(kWidth))); },
    [](auto& store, u64 g, u64 t, u64 x) -> Task& { return store[g][t][x]; }); });
  p.arm({"rolling", n, made}, [=](Sample& s) { return build(s, layers, [=] { return std::vector<Task>(2 * kWidth); },
    [](auto& store, u64, u64 t, u64 x) -> Task& { return store[t % 2 * kWidth + x]; }); });
  p.arm({"read_flat", n, n}, [=](Sample& s) { return read(s, kGroups * layers, kWidth, false); });
  p.arm({"read_nested", n, n}, [=](Sample& s) { return read(s, kGroups * layers, kWidth, true); });
  return p.run();
}
