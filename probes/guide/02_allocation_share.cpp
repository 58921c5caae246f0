// Claim 2: how much of an emplace is heap allocation. The same graph is built from malloc and from memory that lies ready.
//   g++ -std=c++20 -O2 -pthread 02_allocation_share.cpp -o X
#include <new>

#include "guide.hpp"
using namespace guide;

namespace {
bool pooled = false;
char *pool = nullptr, *next = nullptr, *end = nullptr;
u64 allocations = 0;

[[gnu::noinline]] void* take(std::size_t bytes) {
  ++allocations;
  if (pooled) {
    bytes = (bytes + 15) & ~std::size_t{15};
    if (next + bytes > end) { fputs("error: the pool is too small\n", stderr); _exit(1); }
    next += bytes;
    return next - bytes;
  }
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void give(void* memory) {
  if (memory < pool || memory >= end) std::free(memory);
}

struct Capture {  // 48 bytes: two allocations an emplace, the node's and the callable's
  u64* sum;
  u64 data[5];
  void operator()() const { *sum += data[0]; }
};

u64 build(Sample& s, u64 n, bool from_pool) {
  u64 sum = 0;
  const Capture task{&sum, {1}};
  const std::size_t bytes = n * 512 + (1 << 20);
  if (from_pool && !pool) {  // touched before the clock runs
    pool = static_cast<char*>(std::malloc(bytes));
    end = pool + bytes;
    // A compiler makes calloc of malloc and zeros, which touches nothing.
    for (volatile char* page = pool; page < end; page += 4'096) *page = 1;
  }
  next = pool;
  u64 built = 0;
  {
    tf::Taskflow graph;
    allocations = 0, pooled = from_pool;
    s.start();
    for (u64 i = 0; i < n; ++i) graph.emplace(task);
    s.stop();
    pooled = false;
    s.also("allocations", double(allocations));
    built = graph.num_tasks();
  }
  return built;
}
}  // namespace

void* operator new(std::size_t bytes) { return take(bytes); }
void operator delete(void* memory) noexcept { give(memory); }
void operator delete(void* memory, std::size_t) noexcept { give(memory); }

int main(int argc, char** argv) {
  Program p(argc, argv, "The part of an emplace that is heap allocation (claim 2).");
  const u64 n = p.size(50'000, 5'000);
  p.claim({2, "The cost of emplace() is dominated by heap allocation", "cpu", {
    ratio("what is left without malloc, heap used again", "cpu_ns", "warm/pool", "warm/malloc", {none, 0.5}),
    ratio("what is left without malloc, fresh heap", "cpu_ns", "cold/pool", "cold/malloc", {none, 0.5}),
    report("allocations of an emplace", "allocations", {"warm/malloc"})},
    "CPU time of construction, which is one thread; no executor exists, so no worker spins. pool: a pointer moves through memory that "
    "was touched before. cold: a fresh process, so malloc asks the kernel"});
  for (const bool pool : {false, true}) {
    const string name = pool ? "pool" : "malloc";
    p.arm({"cold/" + name, n, n, none, true}, [=](Sample& s) { return build(s, n, pool); });
    p.arm({"warm/" + name, n, n}, [=](Sample& s) { Sample unused; build(unused, n, false); return build(s, n, pool); });
  }
  return p.run();
}
