// Claim 29: this_worker_id() is a look-up in a hash table, not a thread-local read; fast enough for each task.
//   g++ -std=c++20 -O2 -pthread 29_worker_id.cpp -o X
#include <unordered_map>

#include "guide.hpp"
using namespace guide;

static thread_local int local_id = -1;

// `calls` calls by the one worker of an executor, inside a task; their sum is the answer, as the worker's number is 0.
template <class Get> static u64 called(Sample& s, u64 calls, Get get) {
  tf::Executor& executor = guide::executor(1);
  u64 sum = 0;
  tf::Taskflow graph;
  graph.emplace([&] {
    local_id = 0;
    s.start();
    for (u64 i = 0; i < calls; ++i) { int id = get(executor); keep(id); sum += u64(id) + 1; }
    s.stop();
  });
  executor.run(graph).wait();
  return sum;
}

int main(int argc, char** argv) {
  Program p(argc, argv, "What this_worker_id() costs (claim 29).");
  const u64 calls = p.size(1'000'000, 10'000), empty = p.size(10'000, 500);
  p.claim({29, "this_worker_id() is a hash lookup, not a thread_local read, and fast enough for each task", "cpu", {
    ratio("it costs what a find in an unordered_map by thread id costs", "cpu_ns", "this_worker_id", "hash_lookup", {0.5, 2}),
    ratio("it costs more than a thread-local read", "cpu_ns", "this_worker_id", "thread_local", {1.5, none}),
    ratio("fast enough: less than an empty task", "cpu_ns", "this_worker_id", "empty_task", {none, 1})},
    "CPU time of one worker inside one task while the caller sleeps. In this claim tasks are calls. Fast enough is read as less than what an empty task costs"});
  p.arm({"this_worker_id", calls, calls}, [=](Sample& s) { return called(s, calls, [](tf::Executor& executor) { return executor.this_worker_id(); }); });
  p.arm({"hash_lookup", calls, calls}, [=](Sample& s) {
    std::unordered_map<std::thread::id, int> ids;
    return called(s, calls, [&](tf::Executor&) {
      if (ids.empty()) ids[std::this_thread::get_id()] = 0;
      const auto found = ids.find(std::this_thread::get_id());
      return found == ids.end() ? -1 : found->second;
    });
  });
  p.arm({"thread_local", calls, calls}, [=](Sample& s) { return called(s, calls, [](tf::Executor&) { return local_id; }); });
  p.arm({"empty_task", empty, empty}, [=](Sample& s) {
    tf::Executor& executor = guide::executor(1);
    tf::Taskflow graph;
    for (u64 i = 0; i < empty; ++i) graph.emplace([] {});
    s.run(executor, graph);
    return u64(graph.num_tasks());
  });
  return p.run();
}
