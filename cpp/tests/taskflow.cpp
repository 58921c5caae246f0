// The observer on a real Taskflow executor: every kind of task, phases, a reader meanwhile, a thousand attachments.
#include <taskscale/taskflow.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "check.hpp"

using namespace std::chrono_literals;

static_assert(std::is_same<tf::DigestObserver, taskscale::DigestObserver>::value, "known by both names");

static bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

static void counts() {
  tf::Executor executor(2);
  auto observer = executor.make_observer<taskscale::DigestObserver>();
  CHECK(observer->tasks() == 0, observer->json());
  tf::Taskflow graph;
  for (int i = 0; i < 1000; ++i) graph.emplace([] {}).name(i % 2 ? "odd" : "");
  executor.run_n(graph, 3).wait();
  CHECK(observer->tasks() == 3000, observer->json());
  CHECK(holds(observer->json(), "\"odd\"") && holds(observer->json(), "\"live taskflow\""), observer->json());
  std::ostringstream out;
  observer->digest(out);
  CHECK(out.str().size() > 100 && out.str().size() <= 2048, out.str());
  observer->clear();
  CHECK(observer->tasks() == 0, observer->json());
  executor.run(graph).wait();
  CHECK(observer->tasks() == 1000, observer->json());
  executor.remove_observer(observer);
  executor.run(graph).wait();
  CHECK(observer->tasks() == 1000, "removed, and still readable");
}

// A program of which one phase is to be seen: the observer is attached when that begins, and cleared before each run.
static void phases() {
  tf::Executor executor(2);
  std::shared_ptr<taskscale::DigestObserver> observer;
  tf::Taskflow setup, work;
  for (int i = 0; i < 300; ++i) setup.emplace([] {}).name("setup");
  for (int i = 0; i < 200; ++i) work.emplace([] { std::this_thread::sleep_for(50us); }).name("work");
  for (int round = 0; round < 3; ++round) {
    executor.run(setup).wait();
    if (!observer) observer = executor.make_observer<taskscale::DigestObserver>();
    observer->clear();
    executor.run(work).wait();
    CHECK(observer->tasks() == 200, observer->json());
    std::ostringstream out;
    observer->digest(out);
    CHECK(holds(out.str(), "200 tasks") && holds(out.str(), "work") && !holds(out.str(), "setup"), out.str());
  }
}

static void kinds() {
  tf::Executor executor(2);
  auto observer = executor.make_observer<taskscale::DigestObserver>();
  tf::Taskflow graph;
  int rounds = 0;
  auto start = graph.emplace([] {}).name("start");
  auto loop = graph.emplace([&] { return ++rounds < 5 ? 0 : 1; }).name("condition");
  auto end = graph.emplace([] {}).name("end");
  start.precede(loop);
  loop.precede(loop, end);
  graph.emplace([](tf::Subflow& subflow) {
    for (int i = 0; i < 10; ++i) subflow.emplace([] { std::this_thread::sleep_for(1ms); }).name("child");
    subflow.join();
  }).name("parent");
  executor.run(graph).wait();
  // start, five conditions, end, parent, ten children
  CHECK(observer->tasks() == 18, observer->json());
  CHECK(holds(observer->json(), "\"child\""), observer->json());
  for (int i = 0; i < 100; ++i) executor.async([] {}).get();
  executor.silent_async([] {});
  executor.wait_for_all();
  CHECK(observer->tasks() == 119, observer->json());
  auto throwing = executor.async([]() -> int { throw std::runtime_error("as it may"); });
  try {
    throwing.get();
    CHECK(false, "the exception is the caller's");
  } catch (const std::runtime_error&) {
  }
  executor.wait_for_all();
  CHECK(observer->tasks() == 120, observer->json());
}

static void meanwhile() {
  tf::Executor executor(2);
  auto observer = executor.make_observer<taskscale::DigestObserver>();
  tf::Taskflow graph;
  for (int i = 0; i < 2000; ++i) graph.emplace([] {});
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    std::uint64_t before = 0;
    while (!stop) {
      const std::uint64_t now = observer->tasks();
      CHECK(now + 2 >= before, "tasks do not become fewer, but for those that were open");
      before = now;
    }
  });
  executor.run_n(graph, 200).wait();
  stop = true;
  reader.join();
  CHECK(observer->tasks() == 400000, observer->json());
  tf::Taskflow slow;
  std::atomic<bool> inside{false}, go{false};
  slow.emplace([&] {
    inside = true;
    while (!go) std::this_thread::sleep_for(1ms);
  });
  auto run = executor.run(slow);
  while (!inside) std::this_thread::sleep_for(1ms);
  CHECK(holds(observer->json(), "still running"), observer->json());
  go = true;
  run.wait();
  CHECK(!holds(observer->json(), "still running"), observer->json());
}

static long resident_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void attachments() {
  tf::Executor executor(2);
  tf::Taskflow graph;
  for (int i = 0; i < 100; ++i) graph.emplace([] {}).name("task");
  long after_hundred = 0;
  for (int i = 0; i < 1000; ++i) {
    auto observer = executor.make_observer<taskscale::DigestObserver>();
    executor.run(graph).wait();
    CHECK(observer->tasks() == 100, observer->json());
    executor.remove_observer(observer);
    if (i == 100) after_hundred = resident_kb();
  }
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what was freed, and finds leaks by itself
  // 900 observers of 32 KB would be 29 MB.
  CHECK(resident_kb() - after_hundred < 4096, std::to_string(resident_kb() - after_hundred) + " kB more");
#else
  (void)after_hundred;
#endif
}

static void memory() {
  tf::Executor executor(1);
  auto observer = executor.make_observer<taskscale::DigestObserver>();
  tf::Taskflow graph;
  for (int i = 0; i < 1000; ++i) graph.emplace([] {});
  executor.run(graph).wait();
  const std::size_t few = observer->bytes();
  executor.run_n(graph, 1000).wait();
  CHECK(observer->bytes() == few && few <= 16384, std::to_string(observer->bytes()));
}

int main() {
  counts();
  phases();
  kinds();
  meanwhile();
  attachments();
  memory();
  if (failures == 0) std::printf("taskflow %d.%d: all checks hold\n", TF_VERSION / 100000, TF_VERSION / 100 % 1000);
  return failures == 0 ? 0 : 1;
}
