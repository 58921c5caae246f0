// Control: a hash map that resizes, n random keys, nodes that are allocated one by one.
#include <random>
#include <unordered_map>

#include <taskscale/probe.hpp>

int main() {
  const auto insert = [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) {
      std::mt19937_64 draw(run.seed);
      std::unordered_map<std::uint64_t, std::uint64_t> map;
      for (std::uint64_t i = 1; i <= run.size; ++i) map[draw()] = i;
      return std::uint64_t(map.size());
    });
  };
  taskscale::variant("insert", "unordered_map", {.creates_task = false}, insert);
  return taskscale::serve("cpp_map_resizes", "1");
}
