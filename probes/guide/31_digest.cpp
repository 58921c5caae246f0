// Claim 31: an observer that digests instead of recording needs the same memory for any number of tasks, and writes about 2 KB.
//   g++ -std=c++20 -O2 -pthread 31_digest.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
// For each worker: counts, sums, a histogram of durations by powers of two, the longest task.
class Digest : public tf::ObserverInterface {
 public:
  void set_up(std::size_t workers) final { all_ = std::vector<Worker>(workers), from_ = wall(); }
  void on_entry(tf::WorkerView worker, tf::TaskView) final {
    Worker& w = all_[worker.id()];
    const u64 now = wall();
    if (w.depth < 16) w.entered[w.depth] = now;
    if (w.depth++ == 0 && w.last_exit > 0) w.gap_ns += now - w.last_exit;
  }
  void on_exit(tf::WorkerView worker, tf::TaskView) final {
    Worker& w = all_[worker.id()];
    const u64 now = wall();
    if (--w.depth < 16) {
      const u64 ns = now - w.entered[w.depth];
      ++w.tasks, w.busy_ns += w.depth == 0 ? ns : 0, w.longest_ns = std::max(w.longest_ns, ns), ++w.histogram[63 - __builtin_clzll(ns | 1)];
    }
    if (w.depth == 0) w.last_exit = now;
  }
  u64 tasks() const { u64 sum = 0; for (const Worker& w : all_) sum += w.tasks; return sum; }
  string digest() const {
    std::ostringstream out;
    u64 busy = 0, longest = 0, histogram[64] = {};
    for (const Worker& w : all_) {
      busy += w.busy_ns, longest = std::max(longest, w.longest_ns);
      for (int i = 0; i < 64; ++i) histogram[i] += w.histogram[i];
    }
    out << "tasks " << tasks() << ", longest " << longest << " ns, window " << wall() - from_ << " ns, busy " << busy << " ns on " << all_.size() << " workers\n";
    for (int i = 0; i < 64; ++i) if (histogram[i] > 0) out << "from " << (1ull << i) << " ns: " << histogram[i] << "\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(all_.size(), 8); ++i)
      out << "worker " << i << ": " << all_[i].tasks << " tasks, busy " << all_[i].busy_ns << " ns, between tasks " << all_[i].gap_ns << " ns\n";
    return out.str();
  }
 private:
  struct alignas(128) Worker { u64 tasks = 0, busy_ns = 0, gap_ns = 0, longest_ns = 0, last_exit = 0, depth = 0, entered[16] = {}, histogram[64] = {}; };
  std::vector<Worker> all_;
  u64 from_ = 0;
};

u64 run(Sample& s, u64 size, u64 runs) {
  tf::Executor executor(cores());
  tf::Taskflow graph;
  for (u64 i = 0; i < size; ++i) graph.emplace([] {});
  executor.run(graph).wait();
  auto observer = executor.make_observer<Digest>();
  const u64 before = status_bytes("VmRSS:");
  s.start();
  executor.run_n(graph, runs).wait();
  s.stop();
  executor.wait_for_all();
  s.also("rss_bytes", double(std::max(status_bytes("VmHWM:"), before) - before));
  s.also("text_bytes", double(observer->digest().size()));
  return observer->tasks();
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Memory and output of an observer that digests (claim 31).");
  const u64 size = 1'000, most = p.size(10'000'000, 10'000);
  Names arms;
  for (u64 n = 1'000; n <= most; n *= 10) arms.push_back(std::to_string(n));
  p.claim({31, "A digest needs O(1) memory, and writes about 2 KB", "none", {
    slope("bytes of memory for each further task", "rss_bytes/sample", arms, {-0.1, 0.1}), value("text, most tasks", "text_bytes/sample", arms.back(), {}),
    value("text, fewest tasks", "text_bytes/sample", arms.front(), {}), report("peak memory that the run adds", "rss_bytes/sample", arms)},
    "bytes, no time. The observer is one of this program, of the kind that the guide tells of; DigestObserver is no part of Taskflow, so that "
    "what that writes cannot be measured: the verdict is of the memory alone. A graph of 1,000 tasks is run again and again; each sample "
    "in a process of its own"});
  for (u64 n = 1'000; n <= most; n *= 10) p.arm({std::to_string(n), n, n, double(n), true}, [=](Sample& s) { return run(s, size, n / size); });
  return p.run();
}
