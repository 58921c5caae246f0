// Claim 22: a worker for each core beats a worker for each hardware thread by about 10 %.
//   g++ -std=c++20 -O2 -pthread 22_smt.cpp -o X
#include <set>

#include "guide.hpp"
using namespace guide;

static u64 loop(Sample& s, u64 n, const cpu_set_t& cpus) {
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) { perror("error: the process cannot be pinned"); std::exit(1); }
  tf::Executor executor(std::size_t(CPU_COUNT(&cpus)));  // its threads inherit the CPUs
  std::vector<u64> results(n);
  tf::Taskflow graph;
  for (u64 i = 0; i < n; ++i) graph.emplace([&results, i] { results[i] = spin(i, 2'000); });
  s.run(executor, graph);
  return std::accumulate(results.begin(), results.end(), u64{0});
}

int main(int argc, char** argv) {
  Program p(argc, argv, "Workers by cores against workers by hardware threads (claim 22).", 20);
  const u64 n = p.size(20'000, 500);
  cpu_set_t threads, one_each;
  CPU_ZERO(&threads);
  CPU_ZERO(&one_each);
  sched_getaffinity(0, sizeof threads, &threads);
  std::set<string> seen;  // the siblings of each core that has a CPU in `one_each`
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &threads)) continue;
    const string siblings = line_of("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    if (seen.insert(siblings.empty() ? std::to_string(cpu) : siblings).second) CPU_SET(cpu, &one_each);
  }
  Claim claim{22, "16 physical cores beat 32 hardware threads (16 and 12 more) by about 10 % wall time", "wall", {},
    "wall time, since a thread that shares a core has CPU time of its own. About 10 % is read as 5 to 15 %. Each sample in a process of its own, which is pinned"};
  if (CPU_COUNT(&one_each) == CPU_COUNT(&threads)) {
    claim.untestable = "each of the " + std::to_string(CPU_COUNT(&threads)) + " CPUs is the only thread of its core", claim.remedy = "run on a machine with SMT switched on";
  } else {
    claim.bounds.push_back(ratio("cores to hardware threads", "wall_ns", "cores", "threads", {0.85, 0.95}));
    u64 sum = 0;
    for (u64 i = 0; i < n; ++i) sum += spin(i, 2'000);
    p.arm({"cores", n, sum, double(CPU_COUNT(&one_each)), true}, [=](Sample& s) { return loop(s, n, one_each); });
    p.arm({"threads", n, sum, double(CPU_COUNT(&threads)), true}, [=](Sample& s) { return loop(s, n, threads); });
  }
  p.claim(claim);
  return p.run();
}
