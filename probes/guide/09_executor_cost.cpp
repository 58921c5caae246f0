// Claims 9 and 11: what an executor costs to construct and destroy, by its threads; what an empty taskflow costs beside it.
//   g++ -std=c++20 -O2 -pthread 09_executor_cost.cpp -o X
#include "guide.hpp"
using namespace guide;

int main(int argc, char** argv) {
  Program p(argc, argv, "Construction and destruction of executors and of empty taskflows (claims 9 and 11).");
  const u64 flows = p.size(1'000, 100), all = cores();
  Names arms;
  for (const u64 w : {1, 2, 4, 8, 16, 64}) arms.push_back("executor/" + std::to_string(w));
  const string note = "tasks are threads. CPU time of the whole process: new threads look for work before they sleep, and that is part of what "
                      "an executor costs; one is made and destroyed within the timed part, so nothing is left to spin after it";
  p.claim({9, "An executor costs on the order of 100 us or more per thread", "cpu", {
    slope("each further thread, of the sample", "cpu_ns/sample", arms, {100e3, none}), slope("each further thread, wall time", "wall_ns/sample", arms, {100e3, none}),
    value("per thread, 64 threads", "cpu_ns", "executor/64", {100e3, none}), value("per thread, 1 thread", "cpu_ns", "executor/1", {100e3, none}),
    value("per thread, 64 threads, wall time", "wall_ns", "executor/64", {100e3, none})}, note});
  p.claim({11, "An empty taskflow is cheap to construct; the executor is the expensive part", "cpu", {
    ratio("less than 1 % of an executor of all cores", "cpu_ns", "taskflow", "executor/cores", {none, 0.01})}, note + "; in this claim tasks are taskflows and executors"});
  for (const u64 w : {1, 2, 4, 8, 16, 64}) {
    p.arm({"executor/" + std::to_string(w), w, w, double(w)}, [w](Sample& s) {
      u64 workers = 0;
      s.start();
      { tf::Executor executor(w); workers = executor.num_workers(); }
      s.stop();
      return workers;
    });
  }
  p.arm({"executor/cores", 1, all}, [all](Sample& s) {
    u64 workers = 0;
    s.start();
    { tf::Executor executor(all); workers = executor.num_workers(); }
    s.stop();
    return workers;
  });
  p.arm({"taskflow", flows, flows}, [flows](Sample& s) {
    u64 empty = 0;
    s.start();
    for (u64 i = 0; i < flows; ++i) { tf::Taskflow graph; auto* at = &graph; keep(at); empty += graph.empty(); }
    s.stop();
    return empty;
  });
  return p.run();
}
