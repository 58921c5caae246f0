// The probe of Taskflow 3.9 and later: `probe taskflow`. Header-only: needs taskflow/taskflow.hpp.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include <taskflow/taskflow.hpp>

#include "workloads/all.hpp"
#include "workloads/blocking.hpp"
#include "workloads/graph.hpp"
#include "workloads/idle.hpp"
#include "workloads/remote.hpp"
#include "workloads/scale.hpp"

namespace {

// One worker per core, as tf::Executor has them by default; made before the first request.
tf::Executor& executor() {
  static tf::Executor executor(cores());
  return executor;
}

// A graph of independent tasks, built, run and destroyed inside the timed part; one graph after another with a window.
struct EmplaceRun {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return in_slots(plan, body, [&](std::uint64_t* slots, std::size_t start, std::size_t end, Phases& phases) {
      tf::Taskflow graph;
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        graph.emplace(FillSlot<Body>{slots, i, body});
      }
      phases.created();
      executor().run(graph).wait();
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      tf::Taskflow graph;
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        graph.emplace(Discard<Body>{i, body});
      }
      phases.created();
      executor().run(graph).wait();
    });
  }
};

// The same graph, built outside the timed part and run once per iteration.
struct PrebuiltRun {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    std::vector<std::uint64_t> slots(plan.size);
    tf::Taskflow graph;
    for (std::size_t i = 0; i < plan.size; ++i) graph.emplace(FillSlot<Body>{slots.data(), i, body});
    return plan.time([&](Phases&) {
      run(graph, plan, body);
      return body.ordered(slots);
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    tf::Taskflow graph;
    for (std::size_t i = 0; i < plan.size; ++i) graph.emplace(Discard<Body>{i, body});
    return plan.time([&](Phases&) {
      run(graph, plan, body);
      return body.discarded(plan.size);
    });
  }

  template <class Body>
  static void run(tf::Taskflow& graph, const Plan& plan, const Body& body) {
    // All tasks are alive from here on. Nothing is left of this loop where they are not counted.
    for (std::size_t i = 0; i < plan.size; ++i) body.created();
    executor().run(graph).wait();
  }
};

// `async`, futures waited for in the order of creation; with a window, the oldest before the next is started. A future is
// ready before its task is torn down: `wait_for_all` keeps that out of the next iteration.
struct Async {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    if (plan.windowed()) return plan.time([&](Phases& phases) { return windowed(plan, body, phases); });
    return plan.time([&](Phases& phases) {
      std::vector<std::future<std::uint64_t>> futures;
      futures.reserve(plan.size);
      for (std::size_t i = 0; i < plan.size; ++i) {
        body.created();
        futures.push_back(executor().async(GiveResult<Body>{i, body}));
      }
      phases.created();
      std::vector<std::uint64_t> results;
      results.reserve(plan.size);
      for (auto& future : futures) results.push_back(future.get());
      executor().wait_for_all();
      return body.ordered(results);
    });
  }

  template <class Body>
  static std::uint64_t windowed(const Plan& plan, const Body& body, Phases& phases) {
    std::vector<std::uint64_t> results;
    results.reserve(plan.size);
    std::deque<std::future<std::uint64_t>> futures;
    for (std::size_t i = 0; i < plan.size; ++i) {
      if (futures.size() == plan.batch) {
        results.push_back(futures.front().get());
        futures.pop_front();
      }
      body.created();
      futures.push_back(executor().async(GiveResult<Body>{i, body}));
    }
    phases.created();
    for (auto& future : futures) results.push_back(future.get());
    executor().wait_for_all();
    return body.ordered(results);
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      std::vector<std::future<void>> futures;
      futures.reserve(end - start);
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        futures.push_back(executor().async(Discard<Body>{i, body}));
      }
      phases.created();
      for (auto& future : futures) future.get();
      executor().wait_for_all();
    });
  }
};

// `silent_async`, which gives no future: the end of all tasks is waited for, batch by batch with a window.
struct SilentAsync {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return in_slots(plan, body, [&](std::uint64_t* slots, std::size_t start, std::size_t end, Phases& phases) {
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        executor().silent_async(FillSlot<Body>{slots, i, body});
      }
      phases.created();
      executor().wait_for_all();
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        executor().silent_async(Discard<Body>{i, body});
      }
      phases.created();
      executor().wait_for_all();
    });
  }
};

// Tasks with what precedes them.
template <class Body>
void fill(tf::Taskflow& into, const Graph& graph, std::uint64_t* slots, const Body& body) {
  std::vector<tf::Task> tasks;
  tasks.reserve(graph.size);
  for (std::size_t i = 0; i < graph.size; ++i) {
    body.created();
    tasks.push_back(into.emplace(FillSlot<Body>{slots, i, body}));
    graph.each_before(i, [&](std::size_t j) { tasks[j].precede(tasks[i]); });
  }
}

// A graph of dependent tasks, built, run and destroyed inside the timed part.
struct GraphEmplaceRun {
  template <class Body>
  static Timing run(const Plan& plan, const Graph& graph, const Body& body) {
    return plan.time([&](Phases& phases) {
      std::vector<std::uint64_t> slots(plan.size);
      tf::Taskflow tasks;
      fill(tasks, graph, slots.data(), body);
      phases.created();
      executor().run(tasks).wait();
      return body.ordered(slots);
    });
  }
};

// The same graph, built outside the timed part and run once per iteration.
struct GraphPrebuiltRun {
  template <class Body>
  static Timing run(const Plan& plan, const Graph& graph, const Body& body) {
    std::vector<std::uint64_t> slots(plan.size);
    tf::Taskflow tasks;
    fill(tasks, graph, slots.data(), body);
    bool first = true;
    return plan.time([&](Phases&) {
      // `fill` has counted the tasks of the first iteration.
      if (!first) {
        for (std::size_t i = 0; i < plan.size; ++i) body.created();
      }
      first = false;
      executor().run(tasks).wait();
      return body.ordered(slots);
    });
  }
};

// So many workers, and a graph for each pass, as `EmplaceRun`.
struct Workers {
  tf::Executor executor;
  explicit Workers(std::size_t workers) : executor(workers) {}

  template <class Body>
  std::uint64_t pass(std::size_t size, const Body& body) {
    std::vector<std::uint64_t> slots(size);
    tf::Taskflow graph;
    for (std::size_t i = 0; i < size; ++i) {
      body.created();
      graph.emplace(FillSlot<Body>{slots.data(), i, body});
    }
    executor.run(graph).wait();
    return body.ordered(slots);
  }
};

void declare() {
  const taskscale::Array both{"ordered", "discard"};
  const std::string prebuilt = "the graph is built outside the timed part, and run in it: no creation, a lower bound";
  fanout<EmplaceRun>("emplace_run", both, {.note = "the graph is built, run and destroyed in the timed part"});
  fanout<PrebuiltRun>("prebuilt_run", both, {.only = {{"window", {0}}}, .note = prebuilt});
  fanout<Async>("async", both, {.note = "futures, waited for in the order of creation"});
  fanout<SilentAsync>("silent_async", both, {.note = "no futures: wait_for_all"});
  declare_graph();
  graph<GraphPrebuiltRun>("prebuilt_run", {.note = prebuilt});
  graph<GraphEmplaceRun>("emplace_run", {.note = "the graph is built, run and destroyed in the timed part"});
  scale::declare<Workers>("emplace_run", {.note = "who asks builds the graph, before workers begin, and then waits"});
  nop<EmplaceRun>("emplace_run");
  nop<PrebuiltRun>("prebuilt_run", {.only = {{"live", {0}}}, .note = prebuilt});
  nop<Async>("async");
  nop<SilentAsync>("silent_async");
  remote::declare();
  remote::way("silent_async", "no future", [](auto&& task) { executor().silent_async(task); });
  remote::way("async", "a future, which is dropped", [](auto&& task) { (void)executor().async(task); });
  blocking::declare("silent_async", {.note = "on a worker of the executor"}, [](std::size_t size, auto&& task) {
    for (std::size_t i = 0; i < size; ++i) executor().silent_async(task(i));
    executor().wait_for_all();
  });
  idle::declare("outside/silent_async", {}, [](std::uint64_t number, std::uint64_t step, const idle::Task& task) {
    idle::arrive(number, step, [&] { executor().silent_async(task); });
    executor().wait_for_all();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string version =
      std::to_string(TF_VERSION / 100'000) + "." + std::to_string(TF_VERSION / 100 % 1'000) + "." + std::to_string(TF_VERSION % 100);
  return serve_runtime(argc, argv, "taskflow", version, executor().num_workers(), declare);
}
