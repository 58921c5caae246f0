// Claim 30: what the built-in profiler stores and writes: about 450 MB for 5 million tasks, 300 MB and more for a million.
//   g++ -std=c++20 -O2 -pthread 30_profiler.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
struct Counting : std::streambuf {  // counts what is written, and keeps nothing
  u64 bytes = 0;
  int overflow(int c) override { return ++bytes, c; }
  std::streamsize xsputn(const char*, std::streamsize n) override { return bytes += u64(n), n; }
};

// A graph that is run again and again: the tasks are as many, and the graph takes little of the memory.
u64 run(Sample& s, u64 graph_size, u64 runs, bool profiled, bool dumped) {
  tf::Executor executor(cores());
  std::atomic<u64> done = 0;
  tf::Taskflow graph;
  for (u64 i = 0; i < graph_size; ++i) graph.emplace([] {});
  graph.emplace([&] { ++done; });
  executor.run(graph).wait();
  std::shared_ptr<tf::TFProfObserver> observer;
  if (profiled) observer = executor.make_observer<tf::TFProfObserver>();
  const u64 before = status_bytes("VmRSS:");
  s.start();
  executor.run_n(graph, runs).wait();
  s.stop();
  executor.wait_for_all();
  s.also("rss_bytes", double(std::max(status_bytes("VmHWM:"), before) - before));
  if (dumped) {
    Counting counting;
    std::ostream out(&counting);
    observer->dump(out);
    s.also("file_bytes", double(counting.bytes));
  }
  return (done - 1) * (graph_size + 1);
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Memory, output and time of the built-in profiler (claim 30).");
  const u64 size = p.size(50'000, 2'000), few = p.size(20, 2), many = p.size(100, 4);
  p.claim({30, "The profiler needs about 450 MB for 5 million tasks, and writes 300 MB and more for a million", "none", {
    difference("peak memory of a task, 5 million tasks", "rss_bytes", "profiled/many", "plain/many", {81, 99}),
    difference("peak memory of a task, 1 million tasks", "rss_bytes", "profiled/few", "plain/few", {81, 99}),
    value("output of a task, 1 million tasks", "file_bytes", "profiled/few", {300, none}),
    difference("CPU time that it adds to a task", "cpu_ns", "profiled/few", "plain/few", {})},
    "bytes; 450 MB for 5 million are 90 a task, within 10 %. Peak memory is before the output, which is counted and not kept. Each sample in a process of its own. "
    "A graph of 50,000 unnamed tasks is run 20 and 100 times. CPU time has the workers' spinning within the run in it, in both arms"});
  for (const bool profiled : {false, true}) {
    const string name = profiled ? "profiled" : "plain";
    p.arm({name + "/few", few * (size + 1), few * (size + 1), none, true}, [=](Sample& s) { return run(s, size, few, profiled, profiled); });
    p.arm({name + "/many", many * (size + 1), many * (size + 1), none, true}, [=](Sample& s) { return run(s, size, many, profiled, false); });
  }
  return p.run();
}
