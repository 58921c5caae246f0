// Writes a .tfp with Taskflow 4.1's own profiler, and its own text summary of the same run:
//   g++ -std=c++20 -O2 -pthread -I TASKFLOW make_tfp.cpp -o make_tfp
//   TF_ENABLE_PROFILER=taskflow.tfp ./make_tfp taskflow-headless.tfp > taskflow-headless.txt 2> taskflow.txt
// The profiler writes the file, or the summary where it cannot open the file, when the process ends; so the process is
// doubled before, and one half goes to a folder that takes no files. `observer->dump()` of an observer of our own gives
// the form without a file header, with its own summary on standard output.
#include <taskflow/taskflow.hpp>
#include <fstream>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

static void spin(int us) {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < end) {}
}

static void work(tf::Executor& executor) {
  tf::Taskflow inner;
  for (int i = 0; i < 4; i++) inner.emplace([] { spin(30); }).name("inner");
  tf::Taskflow flow;
  for (int i = 0; i < 60; i++) flow.emplace([i] { spin(20 + i); }).name("step");
  for (int i = 0; i < 20; i++) flow.emplace([] { spin(3); });  // without a name
  flow.emplace([] { spin(50); }).name("a name of more than thirty-one letters, which is cut");
  flow.emplace([](tf::Subflow& sub) {
    for (int i = 0; i < 6; i++) sub.emplace([] { spin(25); }).name("child");
    sub.join();
  }).name("parent");
  auto init = flow.emplace([] {}).name("init");
  int rounds = 0;
  auto again = flow.emplace([&rounds] { return ++rounds < 5 ? 0 : 1; }).name("again?");
  auto stop = flow.emplace([] {}).name("stop");
  init.precede(again);
  again.precede(again, stop);
  flow.composed_of(inner).name("module");
  flow.emplace([&executor] {  // a task that runs tasks while it waits: levels above 0
    tf::Taskflow nested;
    for (int i = 0; i < 8; i++) nested.emplace([] { spin(15); }).name("corun");
    executor.corun(nested);
  }).name("waits");
  executor.run(flow).wait();
  for (int i = 0; i < 5; i++) executor.silent_async(tf::TaskParams{"async"}, [] { spin(10); });
  executor.wait_for_all();
}

int main(int, char** argv) {
  {
    tf::Executor two(2), one(1);
    auto own = two.make_observer<tf::TFProfObserver>();
    work(two);
    work(one);
    std::ofstream headless(argv[1], std::ios::binary);
    own->dump(headless);
    std::cout << own->summary() << std::flush;
  }
  if (pid_t half = fork()) {
    waitpid(half, nullptr, 0);
  } else if (chdir("/proc") != 0) {
    _exit(1);
  }
  return 0;  // here the profiler writes what it has
}
