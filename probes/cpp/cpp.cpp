// The probe of the standard library's own threads: `probe cpp`.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "workloads/all.hpp"
#include "workloads/blocking.hpp"
#include "workloads/bytes.hpp"
#include "workloads/cancel.hpp"
#include "workloads/idle.hpp"
#include "workloads/interp/interp.hpp"
#include "workloads/parked.hpp"
#include "workloads/pingpong.hpp"
#include "workloads/scale.hpp"

namespace {

// What a Linux with default settings bears: at 16,461 threads that wait, `vm.max_map_count` (65,530) is used up. A thread
// that has ended but was not joined keeps its stack, and counts.
constexpr std::uint64_t kMaxThreads = 10'000;
constexpr const char* kWhy = "one OS thread per task; the kernel's default limits end near 16,000 alive at once";

// `std::async(std::launch::async)`, futures waited for in the order of creation. With a window: the oldest before the next is
// started; without results, batch by batch.
struct Async {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return plan.time([&](Phases& phases) {
      std::vector<std::uint64_t> results;
      results.reserve(plan.size);
      started(0, plan.size, plan.batch, body, phases, [&](std::size_t i) { return GiveResult<Body>{i, body}; },
              [&](auto& future) { results.push_back(future.get()); });
      return body.ordered(results);
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      started(start, end, plan.batch, body, phases, [&](std::size_t i) { return Discard<Body>{i, body}; },
              [](auto& future) { future.get(); });
    });
  }

  template <class Body, class Task, class Join>
  static void started(std::size_t start, std::size_t end, std::size_t window, const Body& body, Phases& phases, Task&& task, Join&& join) {
    std::deque<decltype(std::async(std::launch::async, task(0)))> futures;
    for (std::size_t i = start; i < end; ++i) {
      if (futures.size() == window) {
        join(futures.front());
        futures.pop_front();
      }
      body.created();
      futures.push_back(std::async(std::launch::async, task(i)));
    }
    phases.created();
    for (auto& future : futures) join(future);
  }
};

// A `std::jthread` per task, each filling its slot, joined in the order of creation; with a window as `Async`.
struct Jthread {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return plan.time([&](Phases& phases) {
      std::vector<std::uint64_t> slots(plan.size);
      started(0, plan.size, plan.batch, body, phases, [&](std::size_t i) { return FillSlot<Body>{slots.data(), i, body}; });
      return body.ordered(slots);
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      started(start, end, plan.batch, body, phases, [&](std::size_t i) { return Discard<Body>{i, body}; });
    });
  }

  template <class Body, class Task>
  static void started(std::size_t start, std::size_t end, std::size_t window, const Body& body, Phases& phases, Task&& task) {
    std::deque<std::jthread> threads;
    for (std::size_t i = start; i < end; ++i) {
      if (threads.size() == window) threads.pop_front();  // joins
      body.created();
      threads.emplace_back(task(i));
    }
    phases.created();
    threads.clear();  // joins
  }
};

// Threads that take the number of the next task from a counter: no scheduler at all, and so what one could reach.
struct Counter {
  std::size_t workers;
  explicit Counter(std::size_t workers) : workers(workers) {}

  template <class Body>
  std::uint64_t pass(std::size_t size, const Body& body) const {
    std::atomic<std::size_t> next = 0;
    std::atomic<std::uint64_t> sum = 0;
    const auto work = [&] {
      std::uint64_t own = 0;
      for (std::size_t i = next++; i < size; i = next++) {
        body.created();
        own += body.result(i);
      }
      sum += own;
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < workers; ++i) threads.emplace_back(work);
    }  // joins
    return sum;
  }
};

void declare() {
  const taskscale::Array both{"ordered", "discard"};
  fanout<Async>("async", both, {.max_size = kMaxThreads, .note = kWhy});
  fanout<Jthread>("jthread", both, {.max_size = kMaxThreads, .note = kWhy});
  nop<Async>("async", {.max_size = kMaxThreads, .note = kWhy});
  nop<Jthread>("jthread", {.max_size = kMaxThreads, .note = kWhy});
  parked::declare({.max_size = kMaxThreads, .note = kWhy});
  blocking::declare("jthread", {.max_size = kMaxThreads, .note = kWhy}, [](std::size_t size, auto&& task) {
    std::vector<std::jthread> threads;
    threads.reserve(size);
    for (std::size_t i = 0; i < size; ++i) threads.emplace_back(task(i));
  });
  cancel::declare(kMaxThreads, kWhy);
  pingpong::declare();
  const std::string each = "a thread for each task";
  idle::declare("sleep/jthread", {.note = each}, [](std::uint64_t number, std::uint64_t step, const idle::Task& task) {
    std::vector<std::jthread> threads;
    threads.reserve(number);
    idle::arrive(number, step, [&] { threads.emplace_back(task); });
  });
  scale::declare<Counter>(
      "jthread/counter",
      {.creates_task = false, .note = "threads, started in the timed part, take the number of the next task from a counter"});
  interp::declare();
  bytes::declare();
}

std::string version() {
#ifdef _LIBCPP_VERSION
  std::string said = "libc++ " + std::to_string(_LIBCPP_VERSION);
#else
  std::string said = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + " (" + std::to_string(__GLIBCXX__) + ")";
#endif
#ifdef __GLIBC__
  said += std::string(", glibc ") + gnu_get_libc_version();
#endif
  return said;
}

}  // namespace

int main(int argc, char** argv) {
  return serve_runtime(argc, argv, "cpp", version(), 0, declare);
}
