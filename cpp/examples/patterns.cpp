// Each pattern of loss, made to happen in a real Taskflow program, and what the digest calls it.
//
//     g++ -std=c++17 -O2 patterns.cpp $(taskscale config --cflags --libs) -o patterns && ./patterns [RUNS] [quick | PATTERN]
//
// Tasks that sleep hold their worker as tasks that compute do, but leave the processor to whoever else needs it: the programs
// come out the same on two cores and on twenty. The digest sees that they sleep: what they lose to the pattern has to be more than
// that (BLOCKED_IN_TASKS), so they have eight workers. Where tasks have to be work they compute, on two. Prints how many of RUNS were
// named as intended, what else was said, and for three patterns the speed-up that the digest gives as the most that can be won
// against the one that its advice then gave.
#include <taskscale/taskflow.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

bool quick = false;

// Holds the worker for some time; a tenth of it where the program is only to be seen to run.
void hold(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(quick ? ms / 10 : ms)); }

// Holds the worker and its processor.
void spin(double ms) {
  const std::chrono::duration<double, std::milli> length(quick ? ms / 10 : ms);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(length);
  while (Clock::now() < end) {
  }
}

// Keeps a processor busy for so many steps.
void compute(long steps) {
  volatile long sum = 0;
  for (long i = 0; i < steps; ++i) sum = sum + i;
}

void chain(tf::Taskflow& graph, int length, double ms, const char* name) {
  tf::Task before;
  for (int i = 0; i < length; ++i) {
    tf::Task task = graph.emplace([ms] { hold(ms); }).name(name);
    if (i > 0) before.precede(task);
    before = task;
  }
}

void independent(tf::Taskflow& graph, int tasks, double ms, const char* name) {
  for (int i = 0; i < tasks; ++i) graph.emplace([ms] { hold(ms); }).name(name);
}

// One tiny task again and again. A prebuilt graph of as many would spend a third of the window on being set up.
void loop(tf::Taskflow& graph, int times) {
  auto count = std::make_shared<int>(0);
  tf::Task begin = graph.emplace([count] { *count = 0; });
  tf::Task tiny = graph.emplace([count, times] { return ++*count < times ? 0 : 1; });
  tf::Task end = graph.emplace([] {});
  begin.precede(tiny);
  tiny.precede(tiny, end);
}

// A parent that runs children inside itself and mostly waits: another worker takes the long one, which comes first.
void family(tf::Executor& executor) {
  tf::Taskflow graph;
  graph.emplace([] { spin(20); }).name("long");
  for (int i = 0; i < 9; ++i) graph.emplace([] { spin(0.4); }).name("short");
  executor.corun(graph);
}

struct Program {
  const char* pattern;
  // What also counts as right: another true thing to say of the same program.
  const char* also;
  const char* what;
  std::size_t workers;
  std::function<void(tf::Taskflow&, tf::Executor&)> build;
  // The same work with the digest's advice taken.
  std::function<void(tf::Taskflow&, tf::Executor&)> fixed;
  bool contended = false;
};

std::vector<Program> programs() {
  std::vector<Program> all;
  all.push_back({"HEALTHY", "", "100 tasks that compute for 4 ms", 2,
                 [](auto& g, auto&) { for (int i = 0; i < 100; ++i) g.emplace([] { spin(4); }).name("step"); }, nullptr});
  all.push_back({"SCHEDULING_OVERHEAD", "", "10 million tiny tasks, one worker", 1,
                 [](auto& g, auto&) { loop(g, quick ? 1000 : 10000000); }, nullptr});
  all.push_back({"UNDER_DECOMPOSITION", "", "2 tasks of 600 ms on 8 workers", 8,
                 [](auto& g, auto&) { independent(g, 2, 600, "half"); },
                 [](auto& g, auto&) { independent(g, 64, 18.75, "piece"); }});
  all.push_back({"STRAGGLER_TASKS", "", "160 tasks of 2 ms and one of 400 ms", 8,
                 [](auto& g, auto&) {
                   g.emplace([] { hold(400); }).name("whale");
                   independent(g, 160, 2, "minnow");
                 },
                 [](auto& g, auto&) {
                   independent(g, 20, 20, "whale");
                   independent(g, 160, 2, "minnow");
                 }});
  all.push_back({"SERIAL_BOTTLENECK", "", "a chain of 120 tasks of 5 ms", 4, [](auto& g, auto&) { chain(g, 120, 5, "link"); },
                 [](auto& g, auto&) { independent(g, 120, 5, "link"); }});
  all.push_back({"LOAD_IMBALANCE", "", "a chain of 60 tasks of 5 ms and seven of 10", 8,
                 [](auto& g, auto&) { for (int length : {60, 10, 10, 10, 10, 10, 10, 10}) chain(g, length, 5, "link"); }, nullptr});
  all.push_back({"RECURSIVE_OVERLAP", "", "20 parents that wait for the long one of ten children", 2,
                 [](auto& g, auto& executor) {
                   tf::Task before;
                   for (int i = 0; i < 20; ++i) {
                     tf::Task parent = g.emplace([&executor] { family(executor); }).name("parent");
                     if (i > 0) before.precede(parent);
                     before = parent;
                   }
                 },
                 nullptr});
  all.push_back({"PREEMPTED", "INCONCLUSIVE", "2,000 tasks that compute, against four busy processes", 2,
                 [](auto& g, auto&) { for (int i = 0; i < 2000; ++i) g.emplace([] { compute(quick ? 20000 : 400000); }).name("crunch"); },
                 nullptr, true});
  return all;
}

// Processes that take the processors from us, until they are ended; by themselves after ten seconds.
std::vector<pid_t> contend() {
  std::vector<pid_t> busy;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(10);
      for (;;) compute(1000000);
    }
    if (pid > 0) busy.push_back(pid);
  }
  return busy;
}

struct Result {
  std::string pattern, json;
  double seconds;
};

Result run(const Program& program, bool fixed) {
  tf::Executor executor(program.workers);
  auto observer = executor.make_observer<taskscale::DigestObserver>();
  tf::Taskflow graph;
  (fixed ? program.fixed : program.build)(graph, executor);
  const std::vector<pid_t> busy = program.contended ? contend() : std::vector<pid_t>{};
  observer->clear();
  const auto begin = Clock::now();
  executor.run(graph).wait();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const pid_t pid : busy) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  return {observer->pattern(), observer->json(), seconds};
}

// The number behind the first `key` of a JSON text; 0 where there is none.
double number(const std::string& json, const std::string& key) {
  const auto at = json.find("\"" + key + "\":");
  return at == std::string::npos ? 0 : std::atof(json.c_str() + at + key.size() + 3);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 20;
  quick = argc > 2 && std::strcmp(argv[2], "quick") == 0;
  for (const Program& program : programs()) {
    if (argc > 2 && !quick && std::strcmp(argv[2], program.pattern) != 0) continue;
    int right = 0;
    std::map<std::string, int> said;
    std::vector<double> predicted, before, after;
    for (int i = 0; i < runs; ++i) {
      const Result result = run(program, false);
      right += result.pattern == program.pattern || result.pattern == program.also;
      ++said[result.pattern];
      if (std::getenv("SHOW") != nullptr && result.pattern != program.pattern) std::fprintf(stderr, "%s\n", result.json.c_str());
      if (program.fixed == nullptr) continue;
      predicted.push_back(number(result.json, "bound"));
      before.push_back(result.seconds);
      after.push_back(run(program, true).seconds);
    }
    std::printf("%-20s %2d of %d  %s\n", program.pattern, right, runs, program.what);
    for (const auto& [pattern, times] : said) {
      if (pattern != program.pattern) std::printf("    said %d times: %s\n", times, pattern.c_str());
    }
    if (program.fixed != nullptr) {
      const auto median = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
      };
      std::printf("    speed-up: at most %.2f predicted, %.2f measured with the advice taken\n", median(predicted),
                  median(before) / median(after));
    }
    std::fflush(stdout);
  }
  return 0;
}
