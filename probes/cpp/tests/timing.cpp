// Iterations that are set up untimed. Status 1 and a line for each failure.
#include <chrono>
#include <cstdio>
#include <thread>

#include <taskscale/probe.hpp>

int main() {
  taskscale::Run run;
  run.iterations = 3;
  std::uint64_t made = 0, ended = 0;
  const auto setup = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return made += 10;
  };
  const auto timing = run.time_each(setup, [](auto&, std::uint64_t made) { return made; }, [&](std::uint64_t made) { ended += made; });
  std::uint64_t told = 0;
  for (const auto& [name, value] : timing.extra) {
    if (name == "setup_wall_ns") told = std::get<std::uint64_t>(value.value);
  }
  if (timing.answer == 60 && ended == 60 && told >= 9'000'000 && timing.wall_ns > 0) return 0;
  std::printf("answer %llu, ended %llu, set up in %llu ns\n", static_cast<unsigned long long>(timing.answer), static_cast<unsigned long long>(ended),
              static_cast<unsigned long long>(told));
  return 1;
}
