// Claim 25: while a graph is built, handles looked up in a flat vector rather than a map; dependencies asked for once, into a buffer.
//   g++ -std=c++20 -O2 -pthread 25_lookup.cpp -o X
#define GUIDE_COUNTS_ALLOCATIONS
#include "guide.hpp"
using namespace guide;

namespace {
// A wavefront of side * side tasks: each comes after the one above and the one to the left.
u64 edges(u64 side) { return 2 * side * (side - 1); }

struct Flat {
  std::vector<tf::Task> slots;
  u64 side;
  explicit Flat(u64 side) : slots(side * side), side(side) {}
  tf::Task& at(u64 y, u64 x) { return slots[y * side + x]; }
};
struct Map {
  std::map<std::pair<u64, u64>, tf::Task> slots;
  explicit Map(u64) {}
  tf::Task& at(u64 y, u64 x) { return slots[{y, x}]; }
};
struct Filled : Map {  // its nodes are there before the clock runs
  explicit Filled(u64 side) : Map(side) { for (u64 y = 0; y < side; ++y) for (u64 x = 0; x < side; ++x) at(y, x); }
};
template <class Slots> u64 looked_up(Sample& s, u64 side) {
  tf::Taskflow graph;
  Slots slots(side);
  allocations = 0;
  u64 made = 0;
  s.start();
  for (u64 y = 0; y < side; ++y) for (u64 x = 0; x < side; ++x) {
    tf::Task task = graph.emplace([] {});
    slots.at(y, x) = task;
    if (y > 0) slots.at(y - 1, x).precede(task), ++made;
    if (x > 0) slots.at(y, x - 1).precede(task), ++made;
  }
  s.stop();
  s.also("allocations", double(allocations));
  return made;
}

using Point = std::pair<u64, u64>;
[[gnu::noinline]] std::vector<Point> before(u64 y, u64 x) {  // an allocation for each query
  std::vector<Point> points;
  if (y > 0) points.push_back({y - 1, x});
  if (x > 0) points.push_back({y, x - 1});
  return points;
}
[[gnu::noinline]] u64 before(u64 y, u64 x, Point* into) {  // none
  u64 n = 0;
  if (y > 0) into[n++] = {y - 1, x};
  if (x > 0) into[n++] = {y, x - 1};
  return n;
}
enum Query { kBuffer, kVector, kVectorTwice };
u64 queried(Sample& s, u64 side, Query query) {
  tf::Taskflow graph;
  allocations = 0;
  u64 made = 0;
  s.start();
  Flat slots(side);
  for (u64 y = 0; y < side; ++y) for (u64 x = 0; x < side; ++x) {
    tf::Task task = slots.at(y, x) = graph.emplace([] {});
    if (query == kBuffer) {
      Point points[2];
      for (u64 i = 0, n = before(y, x, points); i < n; ++i) slots.at(points[i].first, points[i].second).precede(task), ++made;
    } else if (query == kVector) {
      for (const Point& p : before(y, x)) slots.at(p.first, p.second).precede(task), ++made;
    } else {  // asked twice: how many, then which
      made += before(y, x).size();
      for (const Point& p : before(y, x)) slots.at(p.first, p.second).precede(task);
    }
  }
  s.stop();
  s.also("allocations", double(allocations));
  return made;
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Ways to look up dependencies while a graph is built (claim 25).");
  const u64 side = p.size(128, 24), n = side * side;
  p.claim({25, "A flat vector saves about 50 to 80 ns a task over a map; queries into a buffer, one a task, avoid allocations", "cpu", {
    difference("map less flat vector", "cpu_ns", "map", "flat", {50, 80}), difference("a map whose nodes are there before, less flat vector", "cpu_ns", "map_filled", "flat", {50, 80}),
    difference("allocations that a vector for each query adds", "allocations", "vector", "buffer", {0.99, none}),
    difference("allocations that asking again adds", "allocations", "vector_twice", "vector", {0.5, none}), difference("what a vector for each query takes", "cpu_ns", "vector", "buffer", {0, none}),
    difference("what asking again takes", "cpu_ns", "vector_twice", "vector", {0, none})},
    "CPU time of construction, one thread without an executor, of a wavefront: three look-ups a task. The map has pairs as keys; each task adds one"});
  p.arm({"flat", n, edges(side)}, [=](Sample& s) { return looked_up<Flat>(s, side); });
  p.arm({"map", n, edges(side)}, [=](Sample& s) { return looked_up<Map>(s, side); });
  p.arm({"map_filled", n, edges(side)}, [=](Sample& s) { return looked_up<Filled>(s, side); });
  p.arm({"buffer", n, edges(side)}, [=](Sample& s) { return queried(s, side, kBuffer); });
  p.arm({"vector", n, edges(side)}, [=](Sample& s) { return queried(s, side, kVector); });
  p.arm({"vector_twice", n, edges(side)}, [=](Sample& s) { return queried(s, side, kVectorTwice); });
  return p.run();
}
