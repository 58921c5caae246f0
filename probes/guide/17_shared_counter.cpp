// Claims 17 to 20: a shared counter that is updated for every element, seldom, or not at all but reduced at the end.
//   g++ -std=c++20 -O2 -pthread 17_shared_counter.cpp -o X
#include <mutex>

#include "guide.hpp"
using namespace guide;

namespace {
constexpr u64 kBlock = 4096;
[[gnu::noinline]] u64 element(u64 i) { return splitmix(i); }  // opaque: else the compiler folds the loop of a reduction

// The loop is one over blocks, so that arms differ in nothing but the updates.
template <class Add> u64 updated(Sample& s, u64 n, u64 workers, u64 every, Add add, std::function<u64()> total) {
  tf::Executor& executor = guide::executor(workers);
  std::vector<std::atomic<bool>> seen(workers);  // who took part: a run may end before another worker is awake
  tf::Taskflow graph;
  graph.for_each_index(u64{0}, n / kBlock, u64{1}, [=, &seen, &executor](u64 block) {
    seen[std::size_t(executor.this_worker_id())].store(true, std::memory_order_relaxed);
    for (u64 from = block * kBlock; from < (block + 1) * kBlock; from += every) {
      u64 sum = 0;
      for (u64 i = from; i < from + every; ++i) sum += element(i);
      add(sum);
    }
  });
  s.run(executor, graph);
  s.also("workers", double(std::count(seen.begin(), seen.end(), true)));
  return total();
}
u64 atomic(Sample& s, u64 n, u64 workers, u64 every) {
  std::atomic<u64> counter = 0;
  return updated(s, n, workers, every, [&](u64 sum) { counter.fetch_add(sum); }, [&] { return counter.load(); });
}
u64 as_written(Sample& s, u64 n, u64 workers) {  // as the guide has it: an add in the body of for_each_index
  tf::Executor& executor = guide::executor(workers);
  std::atomic<u64> counter = 0;
  tf::Taskflow graph;
  graph.for_each_index(u64{0}, n, u64{1}, [&counter](u64 i) { counter.fetch_add(element(i)); });
  s.run(executor, graph);
  return counter.load();
}
u64 locked(Sample& s, u64 n, u64 workers, u64 every) {
  std::mutex mutex;
  u64 counter = 0;
  return updated(s, n, workers, every, [&](u64 sum) { std::lock_guard lock(mutex); counter += sum; }, [&] { return counter; });
}
u64 reduced(Sample& s, u64 n, u64 workers) {
  tf::Executor& executor = guide::executor(workers);
  u64 sum = 0;
  tf::Taskflow graph;
  reduce_blocks(graph, n, sum, [](u64 begin, u64 end) { u64 sum = 0; for (u64 i = begin; i < end; ++i) sum += element(i); return sum; });
  s.run(executor, graph);
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "A shared counter: atomic, behind a mutex, or reduced (claims 17 to 20).");
  const u64 n = p.size(1 << 20, 1 << 16);
  const string w = std::to_string(cores());
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += element(i);
  const string note = string("CPU time: cores that wait for a cache line use it; one that sleeps at a mutex does not, which wall time shows. The reduction is by ") +
                      reduces_by + ". Each element calls a function that is not inlined. What workers spin after a run is tail_cpu_ns, outside the timed part";
  Names atomics, mutexes, slopes;
  for (const char* every : {"1", "8", "64", "4096"}) atomics.push_back("atomic/" + w + "/" + every), mutexes.push_back("mutex/" + w + "/" + every);
  Claim c17{17, "An atomic add for each element is far slower than a reduction by index", "cpu", {
    ratio("all workers: at least twice", "cpu_ns", "for_each/" + w, "reduce/" + w, {2, none}),
    ratio("all workers, loop over blocks: at least twice", "cpu_ns", atomics[0], "reduce/" + w, {2, none}), ratio("all workers, wall time", "wall_ns", atomics[0], "reduce/" + w, {2, none}),
    ratio("one worker: no contention", "cpu_ns", "atomic/1/1", "reduce/1", {})}, note + ". Far slower is read as at least twice"};
  Claim c18{18, "... especially at 32 and more cores", "cpu", {}, note};
  if (cores() >= 32) c18.bounds.push_back(ratio("all workers: at least ten times", "cpu_ns", atomics[0], "reduce/" + w, {10, none}));
  else c18.untestable = "this process may use " + w + " cores", c18.remedy = "run on a machine with 32 cores or more";
  p.claim(c17), p.claim(c18);
  p.claim({19, "Of a counter behind a mutex, coarser updates are the remedy", "cpu", {
    ratio("every 64th element against every one", "cpu_ns", mutexes[2], mutexes[0], {none, 0.5}), ratio("the same, wall time", "wall_ns", mutexes[2], mutexes[0], {none, 0.5}),
    report("by elements an update", "cpu_ns", mutexes), report("by elements an update, wall time", "wall_ns", mutexes)}, note});
  p.claim({20, "Atomic updates that are rare are acceptable", "cpu", {
    ratio("one for 4,096 elements costs less than 5 %", "cpu_ns", atomics[3], "reduce/" + w, {none, 1.05}), report("by elements an update", "cpu_ns", atomics)}, note});
  std::vector<u64> workers{1};
  if (cores() > 1) workers.push_back(cores());
  for (const u64 t : workers) {
    for (const u64 every : {1, 8, 64, 4096}) {
      const string end = "/" + std::to_string(t) + "/" + std::to_string(every);
      p.arm({"atomic" + end, n, sum, double(every)}, [=](Sample& s) { return atomic(s, n, t, every); });
      p.arm({"mutex" + end, n, sum, double(every)}, [=](Sample& s) { return locked(s, n, t, every); });
    }
    p.arm({"for_each/" + std::to_string(t), n, sum}, [=](Sample& s) { return as_written(s, n, t); });
    p.arm({"reduce/" + std::to_string(t), n, sum}, [=](Sample& s) { return reduced(s, n, t); });
  }
  return p.run();
}
