// What observers add to an empty Taskflow task, in CPU time: all in one process, interleaved.
//
//     experiments/taskflow/run [TASKS] [ROUNDS]
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

// Floors: what an observer that times every task pays before it adds anything up. Each is a part of the digest and no more.

std::uint64_t reading() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return taskscale_now();
#endif
}

// What a worker of a floor writes to, on cache lines of its own.
struct alignas(128) Slot {
  volatile std::uint64_t sink = 0;
  std::uint32_t length = 0;
  struct {
    std::uint64_t end, kind;
  } entries[TASKSCALE_ENTRIES] = {};
};

struct Floor : tf::ObserverInterface {
  void set_up(std::size_t workers) override { slots = std::vector<Slot>(workers); }
  void on_entry(tf::WorkerView, tf::TaskView) override {}
  void on_exit(tf::WorkerView, tf::TaskView) override {}
  std::vector<Slot> slots;
};

// The two calls that Taskflow makes.
struct Empty final : Floor {};

// The least that can tell when tasks ended.
struct OneReading final : Floor {
  void on_exit(tf::WorkerView worker, tf::TaskView) override { slots[worker.id()].sink = reading(); }
};

// That, and kept: the end and the name of a task, in a buffer of the digest's length that nobody reads.
struct OneStored final : Floor {
  void on_exit(tf::WorkerView worker, tf::TaskView task) override {
    Slot& slot = slots[worker.id()];
    const std::uint32_t at = slot.length;
    slot.entries[at].end = reading();
    slot.entries[at].kind = task.name().size();
    slot.length = at + 1 < TASKSCALE_ENTRIES ? at + 1 : 0;
    asm volatile("" ::: "memory");
  }
};

// The least that can time a task.
struct TwoReadings final : Floor {
  void on_entry(tf::WorkerView worker, tf::TaskView) override { slots[worker.id()].sink = reading(); }
  void on_exit(tf::WorkerView worker, tf::TaskView) override { slots[worker.id()].sink = reading(); }
};

// All that the digest does at a task, in its own buffer, which starts over instead of being counted.
struct NotCounted final : tf::ObserverInterface {
  ~NotCounted() override { taskscale_observer_free(observer); }
  void set_up(std::size_t count) override {
    observer = taskscale_observer_new(TASKSCALE_ABI, "floor", static_cast<std::uint32_t>(count), TASKSCALE_EXACT);
    for (std::uint32_t i = 0; i < count; ++i) workers.push_back(taskscale_observer_worker(observer, i));
  }
  void on_entry(tf::WorkerView worker, tf::TaskView) override { taskscale_begin(workers[worker.id()]); }
  void on_exit(tf::WorkerView worker, tf::TaskView task) override {
    taskscale_worker* const mine = workers[worker.id()];
    if (TASKSCALE_LOAD(mine->length) + 1 >= TASKSCALE_ENTRIES) TASKSCALE_STORE(mine->length, 0u);
    taskscale_end(mine, task.name().data(), task.name().size());
  }
  taskscale_observer* observer = nullptr;
  std::vector<taskscale_worker*> workers;
};

// Nanoseconds of a reading among other readings only, where nothing hides it.
double reading_ns() {
  constexpr int count = 1000000;
  std::uint64_t sum = 0;
  const double begin = cpu_ns();
  for (int i = 0; i < count; ++i) sum += reading();
  const double end = cpu_ns();
  volatile std::uint64_t sink = sum;
  (void)sink;
  return (end - begin) / count;
}

// The digest with every task timed.
struct Exact final : taskscale::DigestObserver {
  Exact() : DigestObserver(true) {}
};

template <typename T>
void attach(tf::Executor& executor) {
  executor.make_observer<T>();
}

// The first is what the others are compared with.
struct Mode {
  const char* name;
  void (*attach)(tf::Executor&);
};
const Mode modes[] = {
    {"no observer", [](tf::Executor&) {}},
    {"no observer, again (control)", [](tf::Executor&) {}},
    {"empty observer", attach<Empty>},
    {"one reading, at the end", attach<OneReading>},
    {"one reading, kept", attach<OneStored>},
    {"two readings", attach<TwoReadings>},
    {"two readings, kept as in the digest", attach<NotCounted>},
    {"taskscale digest, exact", attach<Exact>},
    {"taskscale digest", attach<taskscale::DigestObserver>},
    {"ChromeObserver", attach<tf::ChromeObserver>},
    {"TFProfObserver", attach<tf::TFProfObserver>},
};
constexpr std::size_t mode_count = sizeof modes / sizeof modes[0];

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
  std::printf("a reading of the clock among readings only: %.1f\n", reading_ns());
  for (const bool chain : {false, true}) {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
      tf::Taskflow graph;
      tf::Task before;
      for (std::size_t i = 0; i < tasks; ++i) {
        tf::Task task = graph.emplace([] {});
        if (chain && i > 0) before.precede(task);
        before = task;
      }
      std::vector<std::vector<double>> added(mode_count);
      std::vector<double> plain;
      std::mt19937 random(7);
      std::vector<std::size_t> order(mode_count);
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (int round = -2; round < rounds; ++round) {  // two rounds warm the heap
        std::shuffle(order.begin(), order.end(), random);
        std::vector<double> cost(mode_count);
        for (const std::size_t mode : order) {
          tf::Executor executor(workers);
          modes[mode].attach(executor);
          executor.run(graph).wait();  // each executor's own warm-up: its recorder's first growth is not counted
          const double begin = cpu_ns();
          executor.run(graph).wait();
          cost[mode] = (cpu_ns() - begin) / static_cast<double>(tasks);
        }
        if (round < 0) continue;
        plain.push_back(cost[0]);
        for (std::size_t mode = 1; mode < mode_count; ++mode) added[mode].push_back(cost[mode] - cost[0]);
      }
      std::sort(plain.begin(), plain.end());
      std::printf("%s, %zu worker%s: %s %.1f\n", chain ? "chain" : "independent", workers, workers > 1 ? "s" : "",
                  modes[0].name, plain[plain.size() / 2]);
      const std::size_t low = lower_rank(plain.size());
      for (std::size_t mode = 1; mode < mode_count; ++mode) {
        auto& values = added[mode];
        std::sort(values.begin(), values.end());
        std::printf("  %-36s %+7.1f  (%+.1f to %+.1f)\n", modes[mode].name, values[values.size() / 2], values[low > 0 ? low - 1 : 0],
                    values[values.size() - (low > 0 ? low : 1)]);
      }
    }
  }
  return 0;
}
