// Claim 13: a run of empty tasks is the floor of overhead, at the number of workers that is meant.
//   g++ -std=c++20 -O2 -pthread 13_empty_tasks.cpp -o X
#include "guide.hpp"
using namespace guide;

// Calls before(j) for each task j that comes before task i.
template <class Before> static void each_before(const string& shape, u64 n, u64 i, Before before) {
  const u64 width = u64(std::sqrt(double(n)));
  if (shape == "chain" && i > 0) before(i - 1);
  if (shape == "tree" && i > 0) before((i - 1) / 2);
  if (shape == "wavefront" && i % width > 0) before(i - 1);
  if (shape == "wavefront" && i >= width) before(i - width);
}

int main(int argc, char** argv) {
  Program p(argc, argv, "What an empty task costs to build and to run, by shape and workers (claim 13).");
  const u64 n = p.size(10'000, 400);
  Claim claim{13, "Empty tasks show the pure overhead of construction and scheduling, at the target worker count", "cpu", {},
    "always reported: the claim names no figure. build: construction alone. run: all workers' CPU time within the run; what they spin after it is told "
    "as tail_cpu_ns. check: the same graph with tasks that count, and see that those before them are done"};
  std::vector<u64> workers{1};
  if (cores() > 1) workers.push_back(cores());
  for (const string shape : {"independent", "chain", "tree", "wavefront"}) {
    const auto graph_of = [=](tf::Taskflow& graph, auto body) {
      std::vector<tf::Task> tasks;
      tasks.reserve(n);
      for (u64 i = 0; i < n; ++i) {
        tasks.push_back(graph.emplace(body(i)));
        each_before(shape, n, i, [&](u64 j) { tasks[j].precede(tasks[i]); });
      }
    };
    Names arms{"build/" + shape};
    p.arm({arms[0], n, n}, [=](Sample& s) {
      tf::Taskflow graph;
      s.start();
      graph_of(graph, [](u64) { return [] {}; });
      s.stop();
      return u64(graph.num_tasks());
    });
    for (const u64 w : workers) {
      const string name = "run/" + shape + "/" + std::to_string(w);
      arms.push_back(name);
      p.arm({name, n, n}, [=](Sample& s) {
        tf::Executor& executor = guide::executor(w);
        std::vector<std::atomic<bool>> done(n);
        std::atomic<u64> right = 0;
        {
          tf::Taskflow graph;  // the check, outside the timed part
          graph_of(graph, [&](u64 i) { return [&, i] {
            bool early = false;
            each_before(shape, n, i, [&](u64 j) { early |= !done[j]; });
            right += !early, done[i] = true;
          }; });
          executor.run(graph).wait();
        }
        tf::Taskflow graph;
        graph_of(graph, [](u64) { return [] {}; });
        s.settle();
        s.run(executor, graph);
        return right.load();
      });
    }
    claim.bounds.push_back(report(shape + ", an empty task", "cpu_ns", arms));
    claim.bounds.push_back(report(shape + ", an empty task, wall time", "wall_ns", arms));
  }
  p.claim(claim);
  return p.run();
}
