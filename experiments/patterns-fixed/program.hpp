// What the C++ programs share: work of known length, their arguments, and the line that they print.
//
//     PROGRAM PATTERN as-is|fixed BY observed|plain
//
// BY is the number in the digest's advice: so many pieces of a task, or tasks in a batch. `compare` starts the programs.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

// Eight workers whose tasks sleep lose most of their time to the pattern, so that it comes before what the sleeping itself
// is called (BLOCKED_IN_TASKS), and no processor is short. Two workers compute where a task has to be work.
constexpr int kSleepers = 8, kComputing = 2;

// Milliseconds and numbers of the seven programs, the same in all runtimes.
constexpr int kHealthyTasks = 100, kRounds = 6, kAtOnce = 16, kLongest = 60, kShorter = 10, kMinnows = 160, kParents = 24, kShorts = 9;
constexpr double kHealthyMs = 4, kAloneMs = 60, kStepMs = 5, kMinnowMs = 2, kWhaleMs = 400, kHalfMs = 300, kLongMs = 20, kShortMs = 0.4;

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// Holds a worker and no processor.
inline void hold(double ms) { std::this_thread::sleep_for(Milliseconds(ms)); }

// Holds a worker and its processor, by the clock.
inline void spin(double ms) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(Milliseconds(ms));
  while (Clock::now() < end) {
  }
}

// Works for so many steps, each of which needs the one before.
inline void compute(long steps) {
  std::uint64_t value = 1;
  for (long i = 0; i < steps; ++i) {
    value = value * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(value));
  }
}

struct Arguments {
  std::string pattern;
  bool fixed, observed;
  int by;
};

inline Arguments arguments(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s PATTERN as-is|fixed BY observed|plain\n", argv[0]);
    std::exit(2);
  }
  return {argv[1], std::strcmp(argv[2], "fixed") == 0, std::strcmp(argv[4], "observed") == 0, std::max(1, std::atoi(argv[3]))};
}

// The CPU time of the process, or of the calling thread (RUSAGE_THREAD).
inline double cpu_seconds(int of = RUSAGE_SELF) {
  rusage used{};
  getrusage(of, &used);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Times {
  double seconds, cpu;
};

inline Times timed(const std::function<void()>& run) {
  const double cpu = cpu_seconds();
  const auto begin = Clock::now();
  run();
  return {std::chrono::duration<double>(Clock::now() - begin).count(), cpu_seconds() - cpu};
}

// `text` is the digest's length as text.
inline int print(const Times& times, std::size_t text, const std::string& digest) {
  std::printf("{\"seconds\":%.9f,\"cpu\":%.9f,\"text\":%zu,\"digest\":%s}\n", times.seconds, times.cpu, text,
              digest.empty() ? "null" : digest.c_str());
  return 0;
}
