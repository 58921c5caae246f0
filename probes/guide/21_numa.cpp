// Claim 21: memory of another NUMA node is 2 to 4 times slower; pinned to one node, 32 workers take half to a quarter of the wall time.
//   g++ -std=c++20 -O2 -pthread 21_numa.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
// The CPUs of a list such as 0-19,40-59 that this process may use.
cpu_set_t cpus_of(const string& list) {
  cpu_set_t have, set;
  CPU_ZERO(&set);
  CPU_ZERO(&have);
  sched_getaffinity(0, sizeof have, &have);
  std::istringstream in(list);
  for (string part; std::getline(in, part, ',');) {
    const auto dash = part.find('-');
    const int first = std::atoi(part.c_str()), last = dash == string::npos ? first : std::atoi(part.c_str() + dash + 1);
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) if (CPU_ISSET(cpu, &have)) CPU_SET(cpu, &set);
  }
  return set;
}
std::vector<cpu_set_t> nodes() {
  std::vector<cpu_set_t> all;
  for (int i = 0; i < 64; ++i) {
    const string list = line_of("/sys/devices/system/node/node" + std::to_string(i) + "/cpulist");
    if (list.empty()) continue;
    const cpu_set_t set = cpus_of(list);
    if (CPU_COUNT(&set) > 0) all.push_back(set);
  }
  return all;
}
void pin(const cpu_set_t& set) {
  if (sched_setaffinity(0, sizeof set, &set) != 0) { perror("error: the process cannot be pinned"); std::exit(1); }
}

// One cycle through all cells, so that each step waits for the one before. First touched on one node, walked on another.
u64 chase(Sample& s, u64 n, const cpu_set_t& touched, const cpu_set_t& walked) {
  pin(touched);
  std::vector<u64> next(n);
  std::iota(next.begin(), next.end(), 0);
  for (u64 i = n - 1; i > 0; --i) std::swap(next[i], next[splitmix(i) % i]);  // Sattolo
  pin(walked);
  u64 at = 0, steps = 0;
  s.start();
  do at = next[at], ++steps; while (at != 0);
  s.stop();
  return steps;
}
u64 stream(Sample& s, u64 n, u64 workers, const cpu_set_t* node) {
  if (node) pin(*node);
  tf::Executor executor(workers);  // its threads inherit the CPUs
  std::vector<u64> cells(n);
  std::iota(cells.begin(), cells.end(), 0);
  u64 sum = 0;
  tf::Taskflow graph;
  reduce_blocks(graph, n, sum, [&](u64 begin, u64 end) { return std::accumulate(cells.begin() + long(begin), cells.begin() + long(end), u64{0}); });
  s.run(executor, graph);
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Memory of the own and of another NUMA node; pinned and unpinned workers (claim 21).", 20);
  const u64 cells = p.size(1 << 22, 1 << 14), n = p.size(1 << 25, 1 << 16);
  const auto all = nodes();
  Claim claim{21, "Remote memory is 2 to 4 times slower; pinning to a node gives 2 to 4 times less wall time at 32 workers", "wall", {},
    "wall time; each sample in a process of its own, since pages stay where they were touched first"};
  if (all.size() < 2 || cores() < 32) {
    claim.untestable = "this process may use " + std::to_string(all.size()) + " NUMA nodes and " + std::to_string(cores()) + " CPUs; the claim is about 2 nodes and 32 workers";
    claim.remedy = "run on a machine with two sockets and at least 32 CPUs";
  }
  if (all.size() >= 2) {
    claim.bounds.push_back(ratio("latency, remote to local", "wall_ns", "remote", "local", {2, 4}));
    p.arm({"local", cells, cells, none, true}, [=](Sample& s) { return chase(s, cells, all[0], all[0]); });
    p.arm({"remote", cells, cells, none, true}, [=](Sample& s) { return chase(s, cells, all[1], all[0]); });
  }
  if (all.size() >= 2 && cores() >= 32) {
    const u64 sum = n * (n - 1) / 2;
    claim.bounds.push_back(ratio("a run, unpinned to pinned", "wall_ns", "unpinned", "pinned", {2, 4}));
    p.arm({"pinned", n, sum, none, true}, [=](Sample& s) { return stream(s, n, 32, &all[0]); });
    p.arm({"unpinned", n, sum, none, true}, [=](Sample& s) { return stream(s, n, 32, nullptr); });
  }
  p.claim(claim);
  return p.run();
}
