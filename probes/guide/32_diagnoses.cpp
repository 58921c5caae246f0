// Claim 32: an observer tells seven patterns apart, by thresholds that come from the run itself.
//   g++ -std=c++20 -O2 -pthread 32_diagnoses.cpp -o X
// DigestObserver is no part of Taskflow. Where the compiler finds its digest_observer.hpp, it is what is tested; else this program's own.
#include <fcntl.h>

#include <cstring>

#include "guide.hpp"
#if __has_include("digest_observer.hpp")
#include "digest_observer.hpp"
#endif
using namespace guide;

namespace {
// How long this thread was ready to run and did not, as the kernel counts it; 0 where it does not.
u64 delay_ns() {
  static thread_local const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);  // of a worker; closed at the end of the process
  char text[64] = {};
  if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0) return 0;
  const char* second = strchr(text, ' ');
  return second ? std::strtoull(second + 1, nullptr, 10) : 0;
}

struct Span { u64 from, to, depth, late; };  // late: the worker could run, and the system ran something else

// Records all spans, which are few here, and judges them when the run is over.
class Recorder : public tf::ObserverInterface {
 public:
  void set_up(std::size_t workers) final { open_.resize(workers), spans_.resize(workers); }
  void on_entry(tf::WorkerView w, tf::TaskView) final { const u64 late = delay_ns(); open_[w.id()].push_back({wall(), late}); }
  void on_exit(tf::WorkerView w, tf::TaskView) final {
    auto& open = open_[w.id()];
    const auto [from, late_from] = open.back();
    const u64 to = wall(), late = delay_ns() - late_from;
    open.pop_back();
    spans_[w.id()].push_back({from, to, open.size(), std::min(late, to - from)});
  }

  string label() const {
    const double workers = double(spans_.size());
    std::vector<u64> lengths;
    std::vector<std::pair<u64, int>> edges;
    u64 first = ~u64{0}, last = 0, nested = 0, all = 0, gaps = 0, gap_ns = 0;
    double busy = 0, late = 0;
    for (std::size_t w = 0; w < spans_.size(); ++w) {
      u64 before = 0;
      for (const Span& s : spans_[w]) {
        ++all, nested += s.depth > 0;
        if (s.depth > 0) continue;
        lengths.push_back(s.to - s.from - s.late), late += double(s.late), edges.push_back({s.from, 1}), edges.push_back({s.to, -1});
        first = std::min(first, s.from), last = std::max(last, s.to), busy += double(s.to - s.from);
        if (before > 0) ++gaps, gap_ns += std::min<u64>(s.from - before, 20'000);
        before = s.to;
      }
    }
    if (lengths.empty()) return "REFUSED";
    const double window = double(last - first), total = workers * window, lost = total - busy, mean = busy / double(lengths.size());
    const double gap = gaps > 0 ? double(gap_ns) / double(gaps) : 0;
    if (mean < 9 * gap) return "SCHEDULING_OVERHEAD";  // 10 % of the time of a worker that has tasks
    if (2 * nested > all) return "RECURSIVE_OVERLAP";
    if (late > 0.3 * busy) return "REFUSED";
    if (lost < 0.1 * total) return "HEALTHY";
    std::sort(edges.begin(), edges.end());
    std::sort(lengths.begin(), lengths.end());
    double alone = 0;  // time with at most one task
    int running = 0;
    u64 at = first;
    for (const auto& [t, step] : edges) { if (running <= 1) alone += double(t - at); at = t, running += step; }
    const double longest = double(lengths.back()), typical = double(lengths[lengths.size() / 2]), rounds = std::ceil(double(lengths.size()) / workers);
    if (longest > 8 * typical && longest > 0.5 * alone) return "STRAGGLER_TASKS";
    if (1 - double(lengths.size()) / (workers * rounds) > 0.5 * lost / total && lengths.size() <= 4 * spans_.size() && longest < 2 * typical) return "UNDER_DECOMPOSITION";
    if (alone > 0.75 * window && alone > 2 * longest) return "SERIAL_BOTTLENECK";
    return "LOAD_IMBALANCE";
  }

 private:
  std::vector<std::vector<std::pair<u64, u64>>> open_;
  std::vector<std::vector<Span>> spans_;
};

// A task of known length: it sleeps, so that it is as long on a busy machine.
void work(u64 us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

string observed(Sample& s, u64 workers, tf::Taskflow& graph) {
  tf::Executor executor(workers);
#if __has_include("digest_observer.hpp")
  auto observer = executor.make_observer<tf::DigestObserver>();
#else
  auto observer = executor.make_observer<Recorder>();
#endif
  s.run(executor, graph);
  executor.wait_for_all();
#if __has_include("digest_observer.hpp")
  std::ostringstream out;
  observer->digest(out);
  for (const char* label : {"SCHEDULING_OVERHEAD", "SERIAL_BOTTLENECK", "LOAD_IMBALANCE", "STRAGGLER_TASKS", "RECURSIVE_OVERLAP", "UNDER_DECOMPOSITION", "HEALTHY"})
    if (out.str().find(label) != string::npos) return label;
  return "REFUSED";
#else
  return observer->label();
#endif
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Programs of seven known patterns, and what an observer calls them (claim 32).", 30);
  const u64 workers = std::max<u64>(2, cores()), us = p.size(1'000, 200), many = p.size(100, 20);
  const auto each = [](tf::Taskflow& g, u64 n, u64 us, std::atomic<u64>& done) { for (u64 i = 0; i < n; ++i) g.emplace([us, &done] { work(us), ++done; }); };
  const auto chain = [](tf::Taskflow& g, u64 n, u64 us, std::atomic<u64>& done) {
    for (tf::Task before; n > 0; --n) { tf::Task t = g.emplace([us, &done] { work(us), ++done; }); if (!before.empty()) before.precede(t); before = t; }
  };
  using Fill = std::function<void(tf::Taskflow&, std::atomic<u64>&)>;
  struct Pattern { const char* label; u64 tasks; Fill fill; };
  const std::vector<Pattern> patterns = {
    {"HEALTHY", many, [=](auto& g, auto& done) { each(g, many, us, done); }},
    {"SCHEDULING_OVERHEAD", 20'000, [=](auto& g, auto& done) { for (u64 i = 0; i < 20'000; ++i) g.emplace([&done] { done.fetch_add(1, std::memory_order_relaxed); }); }},
    {"SERIAL_BOTTLENECK", many / 2, [=](auto& g, auto& done) { chain(g, many / 2, us, done); }},
    {"LOAD_IMBALANCE", 10 + 10 * workers, [=](auto& g, auto& done) { chain(g, 20, us, done); for (u64 w = 1; w < workers; ++w) chain(g, 10, us, done); }},
    {"STRAGGLER_TASKS", many + 1, [=](auto& g, auto& done) { each(g, many, us / 4, done), chain(g, 1, us * many / 2, done); }},
    {"UNDER_DECOMPOSITION", workers / 2, [=](auto& g, auto& done) { each(g, workers / 2, 20 * us, done); }},
    {"RECURSIVE_OVERLAP", many, [=](auto& g, auto& done) {
      for (u64 i = 0; i < many / 10; ++i) g.emplace([=, &done](tf::Subflow& sub) {
        for (int k = 0; k < 9; ++k) sub.emplace([us, &done] { work(us), ++done; });
        sub.join(), ++done;
      });
    }}};
  Claim claim{32, "A digest names one of seven patterns, by thresholds calibrated in each run", "none", {},
    "hit is 1 where the pattern is named that the program was made to have, label what was named; no time. REFUSED is an answer where the machine ran something else for much of the time. "
#if __has_include("digest_observer.hpp")
    "The labels are those of digest_observer.hpp"
#else
    "DigestObserver is no part of Taskflow and not in the include path: the labels are those of an observer of this program, whose thresholds were chosen on these programs"
#endif
  };
  for (const Pattern& pattern : patterns) {
    claim.bounds.push_back(value(string("named as it is: ") + pattern.label, "hit/sample", pattern.label, {0.8, none}));
    p.arm({pattern.label, pattern.tasks, pattern.tasks}, [=](Sample& s) {
      std::atomic<u64> done = 0;
      tf::Taskflow graph;
      pattern.fill(graph, done);
      const string label = observed(s, workers, graph);
      s.also("label", label), s.also("hit", label == pattern.label ? 1. : 0.);
      return done.load();
    });
  }
#if !__has_include("digest_observer.hpp")
  claim.untestable = "tf::DigestObserver is no part of Taskflow and not in the include path: what is tested is an observer of this program, of the same kind";
  claim.remedy = "put digest_observer.hpp into the include path and compile again";
#endif
  p.claim(claim);
  return p.run();
}
