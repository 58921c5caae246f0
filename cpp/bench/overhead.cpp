// What observers add to an empty Taskflow task, in CPU time: all in one process, interleaved.
//
//     cpp/bench/run [TASKS] [ROUNDS]
//
// Each round runs every observer once, in a random order, over the same prebuilt graph; the figure of an observer is the
// median over rounds of its CPU time per task less that of no observer in the same round, with the sign-test interval of
// the median. An executor of its own for each, since Taskflow walks its observers without a lock.
#include <taskscale/taskflow.hpp>
#if __has_include(<taskflow/observer/chrome.hpp>)
#include <taskflow/observer/chrome.hpp>
#include <taskflow/observer/tfprof.hpp>
#endif

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// The clock alone, as a floor: what any observer that times tasks must pay.
struct TwoReadings : tf::ObserverInterface {
  void set_up(std::size_t) override {}
  void on_entry(tf::WorkerView, tf::TaskView) override { sink = taskscale_now_inline(); }
  void on_exit(tf::WorkerView, tf::TaskView) override { sink = taskscale_now_inline(); }
  static std::uint64_t taskscale_now_inline() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return taskscale_now();
#endif
  }
  static thread_local volatile std::uint64_t sink;
};
thread_local volatile std::uint64_t TwoReadings::sink = 0;

struct Mode {
  const char* name;
  std::function<void(tf::Executor&)> attach;
  std::function<void()> detach;
};

// Rank (from 0) of the lower end of the sign-test interval of a median of n values at 95 %.
std::size_t lower_rank(std::size_t n) {
  double term = 1, sum = 0;
  for (std::size_t i = 0; i < n; ++i) term /= 2;
  std::size_t rank = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += term;
    if (sum > 0.025) break;
    rank = k + 1;
    term = term * static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return rank;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t tasks = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  std::printf("Taskflow %d.%d, %zu empty tasks a run, %d rounds; CPU ns a task, medians and 95 %% intervals\n",
              TF_VERSION / 100000, TF_VERSION / 100 % 1000, tasks, rounds);
  for (const bool chain : {false, true}) {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
      tf::Taskflow graph;
      tf::Task before;
      for (std::size_t i = 0; i < tasks; ++i) {
        tf::Task task = graph.emplace([] {});
        if (chain && i > 0) before.precede(task);
        before = task;
      }
      std::shared_ptr<taskscale::DigestObserver> ours;
      const std::vector<std::string> names = {"no observer", "two clock readings", "taskscale digest", "ChromeObserver",
                                              "TFProfObserver"};
      std::vector<std::vector<double>> added(names.size());
      std::vector<double> plain;
      std::mt19937 random(7);
      std::vector<std::size_t> order(names.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (int round = -2; round < rounds; ++round) {  // two rounds warm the heap
        std::shuffle(order.begin(), order.end(), random);
        std::vector<double> cost(names.size());
        for (const std::size_t mode : order) {
          tf::Executor executor(workers);
          if (mode == 1) executor.make_observer<TwoReadings>();
          if (mode == 2) ours = executor.make_observer<taskscale::DigestObserver>();
          if (mode == 3) executor.make_observer<tf::ChromeObserver>();
          if (mode == 4) executor.make_observer<tf::TFProfObserver>();
          executor.run(graph).wait();  // each executor's own warm-up: its recorder's first growth is not counted
          const double begin = cpu_ns();
          executor.run(graph).wait();
          cost[mode] = (cpu_ns() - begin) / static_cast<double>(tasks);
        }
        if (round < 0) continue;
        plain.push_back(cost[0]);
        for (std::size_t mode = 1; mode < names.size(); ++mode) added[mode].push_back(cost[mode] - cost[0]);
      }
      std::sort(plain.begin(), plain.end());
      std::printf("%s, %zu worker%s: %s %.1f\n", chain ? "chain" : "independent", workers, workers > 1 ? "s" : "",
                  names[0].c_str(), plain[plain.size() / 2]);
      const std::size_t low = lower_rank(plain.size());
      for (std::size_t mode = 1; mode < names.size(); ++mode) {
        auto& values = added[mode];
        std::sort(values.begin(), values.end());
        std::printf("  %-20s %+7.1f  (%+.1f to %+.1f)\n", names[mode].c_str(), values[values.size() / 2], values[low > 0 ? low - 1 : 0],
                    values[values.size() - (low > 0 ? low : 1)]);
      }
      std::printf("  state of the digest: %zu bytes a worker after %llu tasks\n", ours->bytes() / workers,
                  static_cast<unsigned long long>(ours->tasks()));
    }
  }
  return 0;
}
