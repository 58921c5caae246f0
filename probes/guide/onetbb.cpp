// Claims 9; 10; 12; 13; 14 to 16; 17 to 20; 28; 29; 35; 36 of Taskflow's guide, by oneTBB.
//   g++ -std=c++20 -O2 -pthread onetbb.cpp -o X -ltbb
#define TBB_PREVIEW_WAITING_FOR_WORKERS 1  // tbb::finalize in releases before 2021.6
#include <condition_variable>
#include <deque>

#include <tbb/tbb.h>
#include <tbb/global_control.h>

#define GUIDE_LIBRARY "oneTBB"
#define GUIDE_VERSION std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR)
#include "libraries.hpp"
using namespace guide;

namespace {
struct Tbb {
  static constexpr const char* pool_note = "start: an arena of so many slots, whose threads have met; stop: tbb::finalize, which waits for them to end. The caller is one of the threads";
  static constexpr const char* task_note = "task_group::run";
  static constexpr const char* graph_note = "a flow::graph of continue_nodes, built before; its run alone is timed";
  static constexpr const char* policy_note = "static and affinity are TBB's partitioners, auto the default one, simple/1 and simple/64 pieces of at most so many elements, which are split off by halves";
  static constexpr const char* reduce_note = "The reduction is parallel_reduce over blocks of at least 4,096";
  static constexpr const char* layer_note = "whole: a flow::graph, built before, of a chain for each column; batches: a task_group for each layer";
  static constexpr const char* id_note = "this_task_arena::current_thread_index()";
  static constexpr const char* policies[] = {"static", "affinity", "auto", "simple/1", "simple/64"};
  static inline const string even = "static", small = "simple/64", usual = "auto";

  static inline std::map<u64, std::unique_ptr<tbb::task_arena>> arenas;
  static inline std::unique_ptr<tbb::global_control> limit;
  static inline tbb::task_scheduler_handle handle;
  static tbb::task_arena& arena(u64 w) {
    if (!limit) handle = tbb::task_scheduler_handle{tbb::attach{}}, limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, std::max<u64>(64, 2 * cores()));
    auto& one = arenas[w];
    if (!one) one = std::make_unique<tbb::task_arena>(int(w), 1), one->initialize();
    return *one;
  }
  // All threads of an arena meet; returns how many came. One that does not come within five seconds is not counted.
  static u64 start(u64 w) {
    std::mutex mutex;
    std::condition_variable changed;
    u64 came = 0;
    arena(w).execute([&] {
      tbb::parallel_for(u64{0}, w, [&](u64) {
        std::unique_lock lock(mutex);
        if (++came == w) changed.notify_all();
        changed.wait_for(lock, std::chrono::seconds(5), [&] { return came == w; });
      }, tbb::simple_partitioner());
    });
    return came;
  }
  static void stop() {
    if (!limit) return;
    arenas.clear(), limit.reset();
    if (!tbb::finalize(handle, std::nothrow)) { fprintf(stderr, "error: tbb::finalize did not end the threads\n"); std::exit(1); }
  }
  template <class Body> static void tasks(u64 w, u64 n, Body body) {
    arena(w).execute([&] {
      tbb::task_group group;
      for (u64 i = 0; i < n; ++i) group.run([&body, i] { body(i); });
      group.wait();
    });
  }
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  template <class Before, class Body> static void graph(Sample& s, u64 w, u64 n, Before before, Body body) {
    arena(w).execute([&] {  // a flow::graph runs in the arena in which it was made
      tbb::flow::graph graph;
      std::deque<Node> nodes;
      std::vector<u64> first;
      for (u64 i = 0; i < n; ++i) {
        nodes.emplace_back(graph, [&body, i](const tbb::flow::continue_msg&) { body(i); });
        bool is_first = true;
        before(i, [&](u64 j) { tbb::flow::make_edge(nodes[j], nodes[i]), is_first = false; });
        if (is_first) first.push_back(i);
      }
      s.settle();
      s.start();
      for (const u64 i : first) nodes[i].try_put({});
      graph.wait_for_all();
      s.stop();
    });
  }
  template <class Body> static void loop(const string& policy, u64 n, Body body) {
    const auto each = [&](const tbb::blocked_range<u64>& r) { for (u64 i = r.begin(); i < r.end(); ++i) body(i); };
    arena(cores()).execute([&] {
      const tbb::blocked_range<u64> all(0, n, policy == "simple/64" ? 64 : 1);
      static tbb::affinity_partitioner affinity;
      if (policy == "static") tbb::parallel_for(all, each, tbb::static_partitioner());
      else if (policy == "affinity") tbb::parallel_for(all, each, affinity);
      else if (policy == "auto") tbb::parallel_for(all, each);
      else tbb::parallel_for(all, each, tbb::simple_partitioner());
    });
  }
  template <class Body> static void blocks(u64 w, u64 n, Body body) { arena(w).execute([&] { tbb::parallel_for(u64{0}, n, body); }); }
  template <class Leaf> static u64 reduce(u64 w, u64 n, Leaf leaf) {
    return arena(w).execute([&] {
      return tbb::parallel_reduce(tbb::blocked_range<u64>(0, n, 4096), u64{0}, [&](const tbb::blocked_range<u64>& r, u64 sum) { return sum + leaf(r.begin(), r.end()); }, std::plus<u64>());
    });
  }
  template <class Body> static void layers(Sample& s, u64 width, u64 layers, bool whole, Body body) {
    if (whole) return graph(s, cores(), width * layers, [&](u64 i, auto f) { if (i >= width) f(i - width); }, body);
    s.start();
    for (u64 layer = 0; layer < layers; ++layer) tasks(cores(), width, [&](u64 x) { body(layer * width + x); });
    s.stop();
  }
  static int worker_id() { return tbb::this_task_arena::current_thread_index(); }
};
}  // namespace

int main(int argc, char** argv) { return Experiments<Tbb>::run(argc, argv); }
