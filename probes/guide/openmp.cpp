// Claims 9; 10; 12; 13; 14 to 16; 17 to 20; 28; 29; 35; 36 of Taskflow's guide, by OpenMP.
//   g++ -std=c++20 -O2 -pthread -fopenmp openmp.cpp -o X
#include <omp.h>

#define GUIDE_LIBRARY "OpenMP"
#define GUIDE_VERSION std::to_string(_OPENMP)
#include "libraries.hpp"
using namespace guide;

namespace {
struct Omp {
  static constexpr const char* pool_note = "start: a parallel region of so many threads; stop: omp_pause_resource_all, which ends them. The caller is one of the threads";
  static constexpr const char* task_note = "omp task, by one thread of a parallel region, which is within the timed part";
  static constexpr const char* graph_note = "tasks with depend clauses, which run while further ones are created: creation is within the timed part";
  static constexpr const char* policy_note = "schedules, chosen at run time; without a clause it is static";
  static constexpr const char* reduce_note = "The reduction is reduction(+) over blocks of 4,096";
  static constexpr const char* layer_note = "whole: tasks of a column depend on each other; batches: a taskwait for each layer. Both create tasks within the timed part";
  static constexpr const char* id_note = "omp_get_thread_num()";
  static constexpr const char* policies[] = {"static", "static/1", "static/64", "guided", "guided/64", "dynamic/1", "dynamic/64"};
  static inline const string even = "static", small = "dynamic/64", usual = "static";

  static u64 start(u64 w) {
    u64 came = 0;
    #pragma omp parallel num_threads(int(w)) reduction(+ : came)
    came += 1;
    return came;
  }
  static void stop() {
    if (omp_pause_resource_all(omp_pause_hard) != 0) { fprintf(stderr, "error: omp_pause_resource_all did not end the threads\n"); std::exit(1); }
  }
  template <class Body> static void tasks(u64 w, u64 n, Body body) {
    #pragma omp parallel num_threads(int(w))
    #pragma omp single
    for (u64 i = 0; i < n; ++i) {
      #pragma omp task firstprivate(i) shared(body)
      body(i);
    }
  }
  template <class Before, class Body> static void graph(Sample& s, u64 w, u64 n, Before before, Body body) {
    std::vector<char> done(n + 1);
    char* const at = done.data();
    start(w);
    s.start();
    #pragma omp parallel num_threads(int(w))
    #pragma omp single
    for (u64 i = 0; i < n; ++i) {
      u64 from[2] = {n, n}, count = 0;  // the last place stands for none: nobody writes it
      before(i, [&](u64 j) { from[count++] = j; });
      #pragma omp task firstprivate(i) shared(body) depend(in : at[from[0]], at[from[1]]) depend(out : at[i])
      body(i);
    }
    s.stop();
  }
  template <class Body> static void loop(const string& policy, u64 n, Body body) {
    const auto slash = policy.find('/');
    const string kind = policy.substr(0, slash);
    omp_set_schedule(kind == "static" ? omp_sched_static : kind == "guided" ? omp_sched_guided : omp_sched_dynamic, slash == string::npos ? 0 : std::stoi(policy.substr(slash + 1)));
    #pragma omp parallel for schedule(runtime) num_threads(int(cores()))
    for (u64 i = 0; i < n; ++i) body(i);
  }
  template <class Body> static void blocks(u64 w, u64 n, Body body) {
    #pragma omp parallel for schedule(dynamic) num_threads(int(w))
    for (u64 b = 0; b < n; ++b) body(b);
  }
  template <class Leaf> static u64 reduce(u64 w, u64 n, Leaf leaf) {
    u64 sum = 0;
    #pragma omp parallel for schedule(dynamic) num_threads(int(w)) reduction(+ : sum)
    for (u64 b = 0; b < n / 4096; ++b) sum += leaf(b * 4096, (b + 1) * 4096);
    return sum;
  }
  template <class Body> static void layers(Sample& s, u64 width, u64 layers, bool whole, Body body) {
    if (whole) return graph(s, cores(), width * layers, [&](u64 i, auto f) { if (i >= width) f(i - width); }, body);
    s.start();
    #pragma omp parallel num_threads(int(cores()))
    #pragma omp single
    for (u64 layer = 0; layer < layers; ++layer) {
      for (u64 x = 0; x < width; ++x) {
        const u64 i = layer * width + x;
        #pragma omp task firstprivate(i) shared(body)
        body(i);
      }
      #pragma omp taskwait
    }
    s.stop();
  }
  static int worker_id() { return omp_get_thread_num(); }
};
}  // namespace

int main(int argc, char** argv) { return Experiments<Omp>::run(argc, argv); }
