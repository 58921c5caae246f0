// Cliff that begins at some size: keys chosen so that std::unordered_map of libstdc++ puts all into
// one bucket as soon as it has 20,753 of them, which is from the 10,274th key on.
#include <unordered_map>

#include <taskscale/probe.hpp>

int main() {
  const auto insert = [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) {
      std::unordered_map<std::uint64_t, std::uint64_t> map;
      for (std::uint64_t i = 1; i <= run.size; ++i) map[i * (20753ull * 42043 * 85229)] = i;
      return std::uint64_t(map.size());
    });
  };
  taskscale::variant("insert", "unordered_map", {.creates_task = false}, insert);
  return taskscale::serve("cpp_hash_attack", "1");
}
