// Control, nasty: n steps of a random walk over n records of 256 bytes, which outgrow the caches.
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <taskscale/probe.hpp>

struct Record {
  std::uint64_t next;
  std::uint64_t rest[31];
};

int main() {
  taskscale::variant("walk", "random", {.creates_task = false}, [](const taskscale::Run& run) {
    std::vector<Record> records(run.size);
    std::mt19937_64 draw(run.seed);
    for (std::uint64_t i = 0; i < run.size; ++i) records[i].next = i;
    for (std::uint64_t i = run.size - 1; i > 0; --i) {  // Sattolo: one cycle through all
      std::swap(records[i].next, records[draw() % i].next);
    }
    return run.time([&](taskscale::Phases&) {
      std::uint64_t at = 0, sum = 1;
      for (std::uint64_t step = 0; step < run.size; ++step) sum += at = records[at].next;
      return sum;
    });
  });
  return taskscale::serve("cpp_random_walk", "1");
}
