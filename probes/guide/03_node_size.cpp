// Claim 3: how many bytes a node of the graph has.
//   g++ -std=c++20 -O2 -pthread 03_node_size.cpp -o X
#define GUIDE_COUNTS_ALLOCATIONS
#include "guide.hpp"
using namespace guide;

int main(int argc, char** argv) {
  Program p(argc, argv, "The size of a node (claim 3).", 3);
  p.claim({3, "A graph node has about 160 bytes", "none", {
    value("the type", "bytes", "sizeof", {144, 176}), value("the allocation of an emplace", "bytes", "allocated", {144, 176})},
    "bytes, no time; 160 within 10 %"});
  p.arm({"sizeof", 1, 1}, [](Sample& s) { s.start(), s.stop(), s.also("bytes", sizeof(tf::Node)); return u64{1}; });
  p.arm({"allocated", 1, 1}, [](Sample& s) {
    tf::Taskflow graph;
    graph.emplace([] {});  // the list of nodes takes its first memory here
    s.start();
    largest = 0;
    graph.emplace([] {});
    s.stop();
    s.also("bytes", double(largest));
    return u64(graph.num_tasks() - 1);
  });
  return p.run();
}
