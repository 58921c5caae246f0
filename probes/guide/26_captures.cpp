// Claim 26: what a deep copy, a shared pointer, and a lazy initialization in the body cost a task.
//   g++ -std=c++20 -O2 -pthread 26_captures.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
struct Job { std::vector<u64> data; };

// Graphs are built and destroyed in the timed part, since what is captured is destroyed with them; then the answer is that of a run.
template <class Make> u64 built(Sample& s, u64 n, std::vector<u64>& slots, Make make) {
  tf::Executor& executor = guide::executor(1);
  s.start();
  auto graph = std::make_unique<tf::Taskflow>();
  for (u64 i = 0; i < n; ++i) graph->emplace(make(i));
  s.stop();
  executor.run(*graph).wait();
  s.settle();
  s.start();
  graph.reset();
  s.stop();
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}
u64 lazy(Sample& s, u64 n, bool inside) {
  tf::Executor& executor = guide::executor(1);
  std::vector<std::vector<u64>> scratch(64);
  u64 sum = 0;  // of one worker
  tf::Taskflow graph;
  if (!inside) for (auto& buffer : scratch) buffer.resize(16, 1);
  for (u64 i = 0; i < n; ++i) {
    if (inside) graph.emplace([&scratch, &sum, i] {
      auto& buffer = scratch[i % 64];
      if (buffer.size() != 16) buffer.resize(16, 1);
      sum += buffer[i % 16];
    });
    else graph.emplace([&scratch, &sum, i] { sum += scratch[i % 64][i % 16]; });
  }
  s.settle();
  s.run(executor, graph);
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "A deep copy, a shared pointer and lazy initialization, for each task (claim 26).");
  const u64 n = p.size(10'000, 500);
  executor(1);  // with a second thread there is, a shared pointer counts by atomic instructions
  const string note = "CPU time of construction and destruction while the workers sleep; for lazy initialization, of a run by one worker, where most tasks only test. "
                      "All captures are larger than 16 bytes, so none is held in place. The structure that is copied has one vector of 8 words. A shared pointer is made for each task";
  p.claim({26, "A deep copy costs 30 to 100 ns a task, a shared_ptr 20 to 40, lazy initialization in the body 5 to 20", "cpu", {
    difference("deep copy less pointer", "cpu_ns", "deep_copy", "pointer", {30, 100}), difference("shared_ptr less pointer", "cpu_ns", "shared_ptr", "pointer", {20, 40}),
    difference("a copy of one shared_ptr less pointer", "cpu_ns", "shared_copy", "pointer", {}), difference("lazy initialization less none", "cpu_ns", "lazy_inside", "lazy_outside", {5, 20})}, note});
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += i + 1;
  static std::vector<u64> slots;
  static std::vector<Job> jobs;
  slots.resize(n);
  for (u64 i = 0; i < n; ++i) jobs.push_back({{i + 1, 2, 3, 4, 5, 6, 7, 8}});
  static const auto common = std::make_shared<Job>(Job{{1}});
  p.arm({"pointer", n, sum}, [=](Sample& s) { return built(s, n, slots, [](u64 i) { return [out = &slots[i], job = &jobs[i], i] { *out = job->data[0]; keep(i); }; }); });
  p.arm({"deep_copy", n, sum}, [=](Sample& s) { return built(s, n, slots, [](u64 i) { return [out = &slots[i], job = jobs[i]] { *out = job.data[0]; }; }); });
  p.arm({"shared_ptr", n, sum}, [=](Sample& s) { return built(s, n, slots, [](u64 i) {
    return [out = &slots[i], shared = std::make_shared<Job*>(&jobs[i])] { *out = (*shared)->data[0]; }; }); });
  p.arm({"shared_copy", n, n}, [=](Sample& s) { return built(s, n, slots, [](u64 i) { return [out = &slots[i], shared = common] { *out = shared->data[0]; }; }); });
  p.arm({"lazy_inside", n, n}, [=](Sample& s) { return lazy(s, n, true); });
  p.arm({"lazy_outside", n, n}, [=](Sample& s) { return lazy(s, n, false); });
  return p.run();
}
