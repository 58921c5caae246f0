// Claim 33: queues of 2^8 and 2^10 slots and a cache line of 64 bytes (128 on ARM64) by default.
//   g++ -std=c++20 -O2 -pthread 33_defaults.cpp -o X
// The arms `queues/..` are this program, compiled with the flags that its first line tells:
//   g++ -std=c++20 -O2 -pthread -DTF_DEFAULT_BOUNDED_TASK_QUEUE_LOG_SIZE=5 33_defaults.cpp -o Y; ./X --build queues/5=./Y
#include "guide.hpp"
using namespace guide;

// One task makes them all, so they go through the queue of its worker.
static u64 spawn(Sample& s, u64 n) {
  tf::Executor& executor = guide::executor();
  std::vector<u64> slots(n);
  s.start();
  executor.silent_async([&] { for (u64 i = 0; i < n; ++i) executor.silent_async([at = &slots[i], i] { *at = spin(i, 16); }); });
  executor.wait_for_all();
  s.stop();
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "Default sizes of queues and cache lines, and what other queues cost (claim 33).");
  const u64 n = p.size(20'000, 1'000);
#if defined(__aarch64__)
  const double line = 128;
#else
  const double line = 64;
#endif
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += spin(i, 16);
  p.claim({33, "A worker's queue has 2^8 slots, the unbounded one 2^10 at first; a cache line 64 bytes (128 on ARM64)", "none", {
    value("bounded queue, log 2", "log2_slots/sample", "bounded", {8, 8}), value("unbounded queue, log 2", "log2_slots/sample", "unbounded", {10, 10}),
    value("cache line", "bytes/sample", "cache_line", {line, line}), ratio("2^5 slots against the default", "cpu_ns", "queues/5", "queues/default", {}),
    ratio("2^12 slots against the default", "cpu_ns", "queues/12", "queues/default", {})},
    "the headers' values; what other sizes cost is CPU time of tasks that one worker makes, in processes of their own. What workers spin after the last task is tail_cpu_ns"});
  p.arm({"bounded", 1, 1}, [](Sample& s) { s.start(), s.stop(), s.also("log2_slots", TF_DEFAULT_BOUNDED_TASK_QUEUE_LOG_SIZE); return u64{1}; });
  p.arm({"unbounded", 1, 1}, [](Sample& s) { s.start(), s.stop(), s.also("log2_slots", TF_DEFAULT_UNBOUNDED_TASK_QUEUE_LOG_SIZE); return u64{1}; });
  p.arm({"cache_line", 1, 1}, [](Sample& s) { s.start(), s.stop(), s.also("bytes", TF_CACHELINE_SIZE); return u64{1}; });
  p.arm({"queues/default", n, sum, none, true}, [=](Sample& s) { return spawn(s, n); });
  p.arm({"queues/5", n, sum, none, true, "-DTF_DEFAULT_BOUNDED_TASK_QUEUE_LOG_SIZE=5"}, [=](Sample& s) { return spawn(s, n); });
  p.arm({"queues/12", n, sum, none, true, "-DTF_DEFAULT_BOUNDED_TASK_QUEUE_LOG_SIZE=12"}, [=](Sample& s) { return spawn(s, n); });
  return p.run();
}
