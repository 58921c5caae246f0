// `spin`: `size` steps of the kernel in one call. Tells how long a step takes, so that `work` can be chosen.
#pragma once

#include <cstdint>

#include <taskscale/probe.hpp>

// Keeps a value alive without doing anything with it: the compiler must believe that it is read here, and changed.
template <class T>
inline void black_box(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

// `splitmix64`'s output function (Steele, Lea and Flood 2014; the constants are Stafford's mix 13).
inline std::uint64_t splitmix(std::uint64_t seed) {
  std::uint64_t z = seed + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// `steps` dependent steps of `xorshift64`, started at `splitmix(seed)`: work that no compiler can fold. Never inlined, or
// the compiler might interleave the steps of several calls. 1 to 2 ns a step.
[[gnu::noinline]] inline std::uint64_t spin(std::uint64_t seed, std::uint64_t steps) {
  std::uint64_t x = splitmix(seed);
  for (std::uint64_t i = 0; i < steps; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

// The workload `spin`. Answer of an iteration: `spin(seed, size)`.
inline void declare_spin() {
  taskscale::variant("spin", "loop", {.creates_task = false, .note = "one call, no task"}, [](const taskscale::Run& run) {
    return run.time([&](taskscale::Phases&) {
      std::uint64_t seed = run.seed, size = run.size;
      black_box(seed), black_box(size);
      return spin(seed, size);
    });
  });
}
