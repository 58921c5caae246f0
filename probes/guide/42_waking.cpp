// Claim 42: which task goes first, and how long a worker takes to wake: not in the guide.
//   g++ -std=c++20 -O2 -pthread 42_waking.cpp -o X
#include <condition_variable>
#include <mutex>

#include "guide.hpp"
using namespace guide;

namespace {
// From the moment before a task is handed over to its first step, so many times; the caller spins
// until it came, and yields, so that one CPU is enough. `first_ns` is the median: a neighbour that
// takes the CPU in one wake of eight would be most of a sum.
template <class Hand, class Before> u64 wakes(Sample& s, u64 n, Hand hand, Before before) {
  std::atomic<u64> came = 0;
  u64 right = 0;
  std::vector<u64> took;
  for (u64 i = 0; i < n; ++i) {
    before(i);
    came = 0;
    s.start();
    const u64 from = wall();
    hand(came);
    while (came == 0) std::this_thread::yield();
    s.stop();
    right += came >= from, took.push_back(came - from);
  }
  std::nth_element(took.begin(), took.begin() + took.size() / 2, took.end());
  s.also("first_ns", double(took[took.size() / 2]));
  return right;
}
void submit(std::atomic<u64>& came) { guide::executor(1).silent_async([&came] { came = wall(); }); }
u64 asleep(Sample& s, u64 n) {
  guide::executor(1);
  return wakes(s, n, submit, [&s](u64) { s.settle(); });
}
u64 awake(Sample& s, u64 n) {  // the worker has just done a task, and looks for the next
  return wakes(s, n, submit, [](u64 i) {
    std::atomic<u64> came = 0;
    if (i == 0) for (submit(came); came == 0;) std::this_thread::yield();
  });
}
u64 thread(Sample& s, u64 n) {  // what the kernel takes: a thread that sleeps at a condition variable
  std::mutex mutex;
  std::condition_variable there;
  std::atomic<u64>* to = nullptr;
  bool done = false;
  std::thread sleeper([&] {
    std::unique_lock lock(mutex);
    while (true) {
      there.wait(lock, [&] { return to != nullptr || done; });
      if (to == nullptr) return;
      *std::exchange(to, nullptr) = wall();
    }
  });
  const u64 right = wakes(s, n, [&](std::atomic<u64>& came) { { std::lock_guard lock(mutex); to = &came; } there.notify_one(); }, [&s](u64) { s.settle(); });
  { std::lock_guard lock(mutex); done = true; }
  there.notify_one();
  sleeper.join();
  return right;
}

enum class Ready { Roots, Successors, Asyncs };
// Of tasks that one worker may run at the same time: is the one that was made first run first?
u64 order(Sample& s, u64 n, Ready ready) {
  tf::Executor& executor = guide::executor(1);
  std::vector<u64> ran;  // by one worker
  ran.reserve(n);
  tf::Taskflow graph;
  tf::Task before = ready == Ready::Successors ? graph.emplace([] {}) : tf::Task();
  for (u64 i = 0; ready != Ready::Asyncs && i < n; ++i) {
    tf::Task task = graph.emplace([&ran, i] { ran.push_back(i); });
    if (ready == Ready::Successors) before.precede(task);
  }
  s.settle();
  s.start();
  if (ready == Ready::Asyncs) executor.silent_async([&] { for (u64 i = 0; i < n; ++i) executor.silent_async([&ran, i] { ran.push_back(i); }); });
  else executor.run(graph);
  executor.wait_for_all();
  s.stop();
  s.also("hit", ran.empty() || ran[0] == 0 ? 1 : 0);
  return ran.size();
}

// A chain that takes as long as all the rest does on the other workers, made before it or after it.
u64 chain(Sample& s, u64 length, u64 rest, bool is_first) {
  std::vector<u64> slots(length + rest);
  tf::Taskflow graph;
  const auto add = [&](u64 i) { return graph.emplace([at = &slots[i], i] { *at = spin(i, 2'000); }); };
  const auto others = [&] { for (u64 i = length; i < length + rest; ++i) add(i); };
  if (!is_first) others();
  tf::Task before = add(0);
  for (u64 i = 1; i < length; ++i) { tf::Task task = add(i); before.precede(task), before = task; }
  if (is_first) others();
  s.settle();
  s.run(guide::executor(), graph);
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Which task goes first, and how long a worker takes to wake (claim 42, a question).");
  const u64 n = p.size(8, 2), many = p.size(64, 8), length = p.size(256, 16), rest = length * std::max<u64>(1, cores() - 1);
  u64 sum = 0;
  for (u64 i = 0; i < length + rest; ++i) sum += spin(i, 2'000);
  Claim claim{42, "How long does a worker take to wake, and which task goes first?", "wall", {
    value("from silent_async to the first step, the worker asleep", "first_ns/sample", "asleep", {}),
    value("the worker awake", "first_ns/sample", "awake", {}),
    ratio("a worker asleep against a thread at a condition variable", "first_ns/sample", "asleep", "thread", {}),
    ratio("CPU time of the caller and the worker, asleep against awake", "cpu_ns", "asleep", "awake", {}),
    value("of tasks without a predecessor the first made goes first", "hit/sample", "order/roots", {}),
    value("of the successors of a task", "hit/sample", "order/successors", {}),
    value("of asynchronous tasks that a task makes", "hit/sample", "order/asyncs", {}),
    ratio("a long chain that is made last against first, wall time", "wall_ns", "chain/last", "chain/first", {})},
    "wall time. Taskflow has had no priorities of tasks since 3.8, so that order is what is left: which of the tasks that are ready together one worker takes first, and what "
    "the place of a long chain in the graph does to a run by all workers. One worker is woken, by a caller that spins until its task begins"};
  claim.question = true;
  p.claim(claim);
  p.arm({"asleep", n, n}, [=](Sample& s) { return asleep(s, n); });
  p.arm({"awake", n, n}, [=](Sample& s) { return awake(s, n); });
  p.arm({"thread", n, n}, [=](Sample& s) { return thread(s, n); });
  p.arm({"order/roots", many, many}, [=](Sample& s) { return order(s, many, Ready::Roots); });
  p.arm({"order/successors", many, many}, [=](Sample& s) { return order(s, many, Ready::Successors); });
  p.arm({"order/asyncs", many, many}, [=](Sample& s) { return order(s, many, Ready::Asyncs); });
  p.arm({"chain/first", length + rest, sum}, [=](Sample& s) { return chain(s, length, rest, true); });
  p.arm({"chain/last", length + rest, sum}, [=](Sample& s) { return chain(s, length, rest, false); });
  return p.run();
}
