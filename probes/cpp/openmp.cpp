// The probe of OpenMP: `probe openmp`. Needs -fopenmp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <omp.h>
#include <unistd.h>

#include "workloads/all.hpp"
#include "workloads/graph.hpp"
#include "workloads/idle.hpp"
#include "workloads/scale.hpp"

namespace {

// What the three forms share: they are given what a unit of work does, and do all units of an iteration in one parallel
// region. Their results lie in slots.
template <class Form>
struct Region {
  template <class Body>
  static Timing results(const Plan& plan, const Body& body) {
    return plan.time([&](Phases& phases) {
      std::vector<std::uint64_t> slots(plan.size);
      Form::units(plan, phases, body, [&](std::size_t i) { slots[i] = body.result(i); });
      return body.ordered(slots);
    });
  }

  template <class Body>
  static Timing discard(const Plan& plan, const Body& body) {
    return plan.time([&](Phases& phases) {
      Form::units(plan, phases, body, [&](std::size_t i) { ::discard(body, i); });
      return body.discarded(plan.size);
    });
  }
};

// `task` by one thread of the team, then `taskwait`; with a window, one batch after another.
struct Task : Region<Task> {
  template <class Body, class Unit>
  static void units(const Plan& plan, Phases& phases, const Body& body, const Unit& unit) {
#pragma omp parallel
#pragma omp single
    for (std::size_t start = 0; start < plan.size; start += plan.batch) {
      const std::size_t end = std::min(start + plan.batch, plan.size);
      for (std::size_t i = start; i < end; ++i) {
        body.created();
#pragma omp task firstprivate(i) shared(unit)
        unit(i);
      }
      phases.created();
#pragma omp taskwait
    }
  }
};

// `taskloop grainsize(1)`: a task per unit, created and waited for by the one construct.
struct Taskloop : Region<Taskloop> {
  template <class Body, class Unit>
  static void units(const Plan& plan, Phases&, const Body& body, const Unit& unit) {
#pragma omp parallel
#pragma omp single
    for (std::size_t start = 0; start < plan.size; start += plan.batch) {
      const std::size_t end = std::min(start + plan.batch, plan.size);
      // Nobody is told of a creation: those of a batch count as alive from its start.
      for (std::size_t i = start; i < end; ++i) body.created();
#pragma omp taskloop grainsize(1) shared(unit)
      for (std::size_t i = start; i < end; ++i) unit(i);
    }
  }
};

// `parallel for schedule(dynamic, 1)`: a shared counter, no tasks, no creation to be told.
struct ParallelFor : Region<ParallelFor> {
  template <class Body, class Unit>
  static void units(const Plan& plan, Phases&, const Body& body, const Unit& unit) {
    const std::size_t size = plan.size;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t i = 0; i < size; ++i) {
      body.created();
      unit(i);
    }
  }
};

// `task depend`: each task gives its slot (`out`) and takes those of the tasks before it (`in`), at most three in all patterns. Tasks
// are made anew in each iteration, since OpenMP has no graph to keep. The creator is the team's first thread (`master`, as older compilers
// pass over `masked` without a word) and not whichever comes first (`single`): libgomp 12 loses the table of dependences of any other
// creator when the next region begins before that thread has freed it, in 31 of 40 processes of 300 iterations.
struct TaskDepend {
  template <class Body>
  static Timing run(const Plan& plan, const Graph& graph, const Body& body) {
    return plan.time([&](Phases& phases) {
      std::vector<std::uint64_t> results(plan.size);
      std::uint64_t* slots = results.data();
#pragma omp parallel
#pragma omp master
      {
        for (std::size_t i = 0; i < plan.size; ++i) {
          // A task that waits for fewer names one of them again, and one that waits for none names a slot that nobody gives.
          std::uint64_t nobody = 0, *before[3] = {&nobody, &nobody, &nobody};
          std::size_t known = 0;
          graph.each_before(i, [&](std::size_t j) {
            for (std::size_t k = known; k < 3; ++k) before[k] = slots + j;
            ++known;
          });
          body.created();
#pragma omp task firstprivate(i, slots) shared(body) depend(in : *before[0], *before[1], *before[2]) depend(out : slots[i])
          slots[i] = body.result(i);
        }
        phases.created();
#pragma omp taskwait
      }
      return body.ordered(results);
    });
  }
};

// A team of so many threads; one of them creates the tasks, as in `Task`.
struct Team {
  int workers;
  explicit Team(std::size_t workers) : workers(static_cast<int>(workers)) {}

  template <class Body>
  std::uint64_t pass(std::size_t size, const Body& body) const {
    std::vector<std::uint64_t> results(size);
    std::uint64_t* slots = results.data();
#pragma omp parallel num_threads(workers)
#pragma omp single
    for (std::size_t i = 0; i < size; ++i) {
      body.created();
#pragma omp task firstprivate(i, slots) shared(body)
      slots[i] = body.result(i);
    }
    return body.ordered(results);
  }
};

void declare() {
  const taskscale::Array both{"ordered", "discard"};
#ifdef __clang__
  const bool scheduled = true;
  const std::string tasks, loop;
#else
  const bool scheduled = false;
  const std::string tasks = "libgomp runs a task at once, in its creator, while more than 64 per thread are waiting";
  const std::string loop = "libgomp runs all of a loop of more than 64 tasks per thread in its creator, one after another";
#endif
  const std::string counter = "a shared counter: no tasks";
  fanout<Task>("task", both, {.note = tasks});
  fanout<Taskloop>("taskloop", both, {.creates_task = scheduled, .note = loop});
  fanout<ParallelFor>("parallel_for", both, {.creates_task = false, .only = {{"window", {0}}}, .note = counter});
  declare_graph();
  graph<TaskDepend>("task_depend", {.note = "made anew in each iteration: there is no graph to keep"});
  scale::declare<Team>("task", {.note = tasks});
  nop<Task>("task", {.note = tasks});
  nop<Taskloop>("taskloop", {.creates_task = scheduled, .note = loop});
  const std::string single = "a thread of the team sleeps until each task arrives";
  idle::declare("single/task", {.note = single}, [](std::uint64_t number, std::uint64_t step, const idle::Task& task) {
#pragma omp parallel
#pragma omp single
    idle::arrive(number, step, [&] {
#pragma omp task firstprivate(task)
      task();
    });
  });
}

// `_OPENMP` is the month of the specification that the compiler follows; the library has no version of its own to ask for.
std::string version() {
  const int month = _OPENMP;
  const char* number = month >= 202411 ? "6.0" : month >= 202111 ? "5.2" : month >= 202011 ? "5.1" : month >= 201811 ? "5.0" : "4.5";
#ifdef __clang__
  const std::string library = "libomp of clang " __clang_version__;
#else
  const std::string library = "libgomp of gcc " __VERSION__;
#endif
  return std::string(number) + " (" + std::to_string(month) + "), " + library;
}

// Has idle threads sleep: by default they spin for a while, which process CPU time counts as if it were work. The library
// reads its environment before main, so the process starts itself again. A policy that is set already stays.
bool wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return true;
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::execv("/proc/self/exe", argv);
  std::perror("probe openmp: cannot start itself again with OMP_WAIT_POLICY=passive (set it yourself)");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (!wait_passively(argv)) return 1;
  const auto workers = static_cast<std::size_t>(omp_get_max_threads());
#pragma omp parallel
  {
    // The team's threads start here, before the first request.
  }
  return serve_runtime(argc, argv, "openmp", version(), workers, declare);
}
