// What the entry files of all runtimes share: the workloads, and the way in.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include <sched.h>

#include <taskscale/probe.hpp>

#include "fanout.hpp"
#include "nop.hpp"
#include "spin.hpp"

// The number of cores that this process may use; std::thread::hardware_concurrency counts those that are online (glibc).
inline std::size_t cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<std::size_t>(CPU_COUNT(&allowed));
  // More cores than a cpu_set_t has room for.
  const std::size_t online = std::thread::hardware_concurrency();
  return online == 0 ? 1 : online;
}

// `probe RUNTIME`: serves `name`, the one runtime of this binary. `declare` declares its variants of fanout and nop.
template <class Declare>
int serve_runtime(int argc, char** argv, const std::string& name, const std::string& version, std::size_t workers, Declare&& declare) {
  if (argc > 1 && argv[1] != name) {
    std::fprintf(stderr, "no runtime %s in this probe; choose one of %s\n", taskscale::in_quotes(argv[1]).c_str(), name.c_str());
    return 2;
  }
  declare_fanout();
  declare_nop();
  declare();
  declare_spin();
  return taskscale::serve(name, version, workers);
}
