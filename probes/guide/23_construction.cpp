// Claims 23 and 24: construction is serial, whatever the workers; for fine tasks it takes more time than the run.
//   g++ -std=c++20 -O2 -pthread 23_construction.cpp -o X
#include "guide.hpp"
using namespace guide;

static u64 build_and_run(Sample& s, u64 workers, u64 n, u64 steps, bool time_run) {
  tf::Executor& executor = guide::executor(workers);
  std::vector<u64> slots(n);
  tf::Taskflow graph;
  tf::Task before;
  if (!time_run) s.start();
  for (u64 i = 0; i < n; ++i) {
    tf::Task task = graph.emplace([at = &slots[i], i, steps] { *at = spin(i, steps); });
    if (i % 8 != 0) before.precede(task);  // chains of eight
    before = task;
  }
  if (!time_run) s.stop();
  if (time_run) s.settle(), s.start();
  executor.run(graph).wait();
  if (time_run) s.stop();
  return std::accumulate(slots.begin(), slots.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "Construction against execution, by workers and by the length of a task (claims 23 and 24).");
  const u64 n = p.size(10'000, 500);
  Names builds, runs[2], same[2];
  std::vector<u64> sizes;
  for (u64 steps = 1; steps <= p.size(4'096, 64); steps *= 4) sizes.push_back(steps);
  const auto sum_of = [n](u64 steps) { u64 sum = 0; for (u64 i = 0; i < n; ++i) sum += spin(i, steps); return sum; };
  const u64 most = std::max<u64>(8, cores()), few = sum_of(1);
  for (u64 w = 1; w <= most; w *= 2) {
    builds.push_back("build/" + std::to_string(w));
    p.arm({builds.back(), n, few, double(w)}, [=](Sample& s) { return build_and_run(s, w, n, 1, false); });
  }
  for (const u64 w : {u64{1}, u64(cores())}) {
    const int many = w > 1;
    if (many == 0 && !runs[0].empty()) continue;
    for (const u64 steps : sizes) {
      runs[many].push_back("run/" + std::to_string(w) + "/" + std::to_string(steps)), same[many].push_back("build/1");
      p.arm({runs[many].back(), n, sum_of(steps), double(steps) * step_ns()}, [=](Sample& s) { return build_and_run(s, w, n, steps, true); });
    }
  }
  // A program builds its first graph in a heap that the kernel has yet to fill.
  p.arm({"cold/build", n, few, none, true}, [=](Sample& s) { return build_and_run(s, 1, n, 1, false); });
  for (const u64 w : {u64{1}, u64(cores())})
    if (w == 1 || cores() > 1) p.arm({"cold/run/" + std::to_string(w), n, few, none, true}, [=](Sample& s) { return build_and_run(s, w, n, 1, true); });
  const string note = "build: CPU time of construction while the workers of an executor sleep. run: wall time of the run and CPU time of all workers in it; "
                      "what they spin after it is tail_cpu_ns. A task is one of a chain of eight. cold: a fresh process";
  p.claim({23, "Construction is serial: its time does not depend on the number of workers", "cpu", {
    slope("ns per task and worker", "cpu_ns", builds, {-0.5, 0.5}), ratio("most workers against one", "cpu_ns", builds.back(), "build/1", {0.9, 1.1}), report("by workers", "cpu_ns", builds)},
    note + ". Does not depend is read as within 10 %, the width of a tie"});
  Claim c24{24, "For fine tasks construction can take more time than the run", "wall", {}, note + ". The axis is the length of a task in ns"};
  for (const int many : {0, 1}) {
    if (runs[many].empty()) continue;
    const string workers = many ? std::to_string(cores()) + " workers" : "1 worker";
    c24.bounds.push_back(ratio("the finest, " + workers + ": construction takes more", "wall_ns", "build/1", runs[many][0], {1, none}));
    c24.bounds.push_back(ratio("the finest, " + workers + ", fresh heap: construction takes more", "wall_ns", "cold/build",
                               many ? "cold/run/" + std::to_string(cores()) : "cold/run/1", {1, none}));
    c24.bounds.push_back(crossover("length from which on the run takes more, " + workers, "wall_ns", runs[many], same[many], 1, 1, {}));
    c24.bounds.push_back(ratio("CPU time of the finest, " + workers, "cpu_ns", "build/1", runs[many][0], {}));
  }
  p.claim(c24);
  return p.run();
}
