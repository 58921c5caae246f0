// The probe of oneTBB: `probe onetbb`. Needs the headers, and -ltbb.
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include "workloads/all.hpp"
#include "workloads/graph.hpp"
#include "workloads/idle.hpp"
#include "workloads/latch.hpp"
#include "workloads/remote.hpp"
#include "workloads/scale.hpp"

namespace {

// `task_group`, one per batch: `wait` lets the thread that calls it run tasks too.
struct TaskGroup {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return in_slots(plan, body, [&](std::uint64_t* slots, std::size_t start, std::size_t end, Phases& phases) {
      tbb::task_group group;
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        group.run(FillSlot<Body>{slots, i, body});
      }
      phases.created();
      group.wait();
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      tbb::task_group group;
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        group.run(Discard<Body>{i, body});
      }
      phases.created();
      group.wait();
    });
  }
};

// `task_arena::enqueue`, which gives no handle: a latch tells the end, batch by batch with a window. The thread that waits
// there runs no tasks.
struct ArenaEnqueue {
  template <class Task>
  struct Leaving {
    Task task;
    void operator()() const {
      task();
      latch().leave();
    }
  };

  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return in_slots(plan, body, [&](std::uint64_t* slots, std::size_t start, std::size_t end, Phases& phases) {
      latch().reset(end - start);
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        arena().enqueue(Leaving<FillSlot<Body>>{{slots, i, body}});
      }
      phases.created();
      latch().wait();
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases& phases) {
      latch().reset(end - start);
      for (std::size_t i = start; i < end; ++i) {
        body.created();
        arena().enqueue(Leaving<Discard<Body>>{{i, body}});
      }
      phases.created();
      latch().wait();
    });
  }

  // Of the default size: one slot per core, one of them for a thread from outside.
  static tbb::task_arena& arena() {
    static tbb::task_arena arena;
    arena.initialize();
    return arena;
  }

  static Latch& latch() {
    static Latch latch;
    return latch;
  }
};

// `parallel_for`, which splits the range by need. Has no creation of its own to be told.
struct ParallelFor {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return in_slots(plan, body, [&](std::uint64_t* slots, std::size_t start, std::size_t end, Phases&) {
      tbb::parallel_for(start, end, [&](std::size_t i) {
        body.created();
        slots[i] = body.result(i);
      });
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return without_results(plan, body, [&](std::size_t start, std::size_t end, Phases&) {
      tbb::parallel_for(start, end, [&](std::size_t i) {
        body.created();
        ::discard(body, i);
      });
    });
  }
};

// A `flow_graph` of `continue_node`s, built outside the timed part. Each iteration sets off those that wait for none.
struct FlowGraph {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

  template <class Body>
  static Timing run(const Plan& plan, const Graph& graph, const Body& body) {
    std::vector<std::uint64_t> slots(plan.size);
    tbb::flow::graph flow;
    std::list<Node> kept;  // nodes do not move
    std::vector<Node*> nodes, first;
    for (std::size_t i = 0; i < plan.size; ++i) {
      const FillSlot<Body> task{slots.data(), i, body};
      Node& node = kept.emplace_back(flow, [task](const tbb::flow::continue_msg&) { task(); });
      bool waits = false;
      graph.each_before(i, [&](std::size_t j) {
        tbb::flow::make_edge(*nodes[j], node);
        waits = true;
      });
      nodes.push_back(&node);
      if (!waits) first.push_back(&node);
    }
    return plan.time([&](Phases&) {
      // All tasks are alive from here on. Nothing is left of this loop where they are not counted.
      for (std::size_t i = 0; i < plan.size; ++i) body.created();
      for (Node* node : first) node->try_put(tbb::flow::continue_msg());
      flow.wait_for_all();
      return body.ordered(slots);
    });
  }
};

// An arena of so many slots, one of them for who asks: it creates the tasks and then runs some. By itself the library has no more
// threads than cores.
struct Workers {
  tbb::global_control most;
  tbb::task_arena arena;
  explicit Workers(std::size_t workers)
      : most(tbb::global_control::max_allowed_parallelism, workers), arena(static_cast<int>(workers)) {}

  template <class Body>
  std::uint64_t pass(std::size_t size, const Body& body) {
    std::vector<std::uint64_t> slots(size);
    arena.execute([&] {
      tbb::task_group group;
      for (std::size_t i = 0; i < size; ++i) {
        body.created();
        group.run(FillSlot<Body>{slots.data(), i, body});
      }
      group.wait();
    });
    return body.ordered(slots);
  }
};

void declare() {
  const taskscale::Array both{"ordered", "discard"};
  const std::string enqueued = "a latch tells the end; the thread that waits runs no tasks, so one core fewer does";
  const std::string ranges = "splits the range by need: far fewer tasks than units";
  fanout<TaskGroup>("task_group", both);
  fanout<ArenaEnqueue>("arena_enqueue", both, {.note = enqueued});
  fanout<ParallelFor>("parallel_for", both, {.creates_task = false, .only = {{"window", {0}}}, .note = ranges});
  declare_graph();
  graph<FlowGraph>("flow_graph", {.note = "the graph is built outside the timed part, and run in it: no creation, a lower bound"});
  scale::declare<Workers>("task_group", {.note = "who asks is one of the workers, and creates the tasks"});
  remote::declare();
  remote::way("arena_enqueue", "threads take no slot of the arena, so one core fewer runs tasks",
              [](auto&& task) { ArenaEnqueue::arena().enqueue(task); });
  nop<TaskGroup>("task_group");
  nop<ArenaEnqueue>("arena_enqueue", {.note = enqueued});
  idle::declare("outside/enqueue", {}, [](std::uint64_t number, std::uint64_t step, const idle::Task& task) {
    ArenaEnqueue::latch().reset(number);
    idle::arrive(number, step, [&] { ArenaEnqueue::arena().enqueue(ArenaEnqueue::Leaving<idle::Task>{task}); });
    ArenaEnqueue::latch().wait();
  });
  idle::declare("outside/task_group", {}, [](std::uint64_t number, std::uint64_t step, const idle::Task& task) {
    tbb::task_group group;
    idle::arrive(number, step, [&] { group.run(task); });
    group.wait();
  });
}

}  // namespace

int main(int argc, char** argv) {
  // What is linked, and what the headers were of: they need not be the same.
  const std::string linked = TBB_runtime_version(), headers = TBB_VERSION_STRING;
  const std::string version = linked == headers ? linked : linked + " (headers " + headers + ")";
  const int workers = tbb::this_task_arena::max_concurrency();
  ArenaEnqueue::arena();
  return serve_runtime(argc, argv, "onetbb", version, static_cast<std::size_t>(workers), declare);
}
