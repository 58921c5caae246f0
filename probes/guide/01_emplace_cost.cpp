// Claims 1 and 5: what one emplace costs, by the size of its capture, in a fresh heap and in one that is used again.
//   g++ -std=c++20 -O2 -pthread 01_emplace_cost.cpp -o X
#include "guide.hpp"
using namespace guide;

template <std::size_t bytes> struct Task {  // captures so many bytes
  u64* sum;
  unsigned char data[bytes - sizeof(u64*)];
  void operator()() const { *sum += data[0]; }
};

// Builds a graph of n tasks; its size is the answer.
template <std::size_t bytes> u64 build(Sample& s, u64 n) {
  u64 sum = 0;
  Task<bytes> task{&sum, {1}};
  static_assert(sizeof task == bytes);
  tf::Taskflow graph;
  s.start();
  for (u64 i = 0; i < n; ++i) graph.emplace(task);
  s.stop();
  return graph.num_tasks();
}

template <std::size_t... bytes> void arms(Program& p, u64 n) {
  (p.arm({"cold/" + std::to_string(bytes), n, n, double(bytes), true}, [n](Sample& s) { return build<bytes>(s, n); }), ...);
  // The graph before has left its memory to the heap.
  (p.arm({"warm/" + std::to_string(bytes), n, n, double(bytes)}, [n](Sample& s) { Sample unused; build<bytes>(unused, n); return build<bytes>(s, n); }), ...);
}

int main(int argc, char** argv) {
  Program p(argc, argv, "What one emplace costs, by the bytes that its callable captures (claims 1 and 5).");
  const string note = "CPU time of construction, which is one thread; no executor exists, so no worker spins. cold: a fresh process, "
                      "whose memory the kernel has yet to hand out. warm: a heap that held such a graph before";
  p.claim({1, "One emplace() costs about 150 to 250 ns", "cpu", {
    value("48 B, fresh heap", "cpu_ns", "cold/48", {150, 250}), value("240 B, fresh heap", "cpu_ns", "cold/240", {150, 250}),
    value("16 B, fresh heap", "cpu_ns", "cold/16", {150, 250}), value("512 B, fresh heap", "cpu_ns", "cold/512", {150, 250}),
    value("48 B, heap used again", "cpu_ns", "warm/48", {150, 250}), value("240 B, heap used again", "cpu_ns", "warm/240", {150, 250})}, note});
  p.claim({5, "A capture of 240 B costs 10 to 30 ns more than one of 48 B", "cpu", {
    difference("fresh heap", "cpu_ns", "cold/240", "cold/48", {10, 30}), difference("heap used again", "cpu_ns", "warm/240", "warm/48", {10, 30})}, note});
  arms<16, 48, 240, 512>(p, p.size(50'000, 5'000));
  return p.run();
}
