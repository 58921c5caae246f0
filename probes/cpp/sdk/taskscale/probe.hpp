// What a probe in C++ needs besides its workloads: the loop of probe protocol 1, and the clocks. Header-only, C++20.
//
//     #include <taskscale/probe.hpp>
//
//     int main() {
//       taskscale::variant("nop", "call", {.creates_task = false}, [](const taskscale::Run& run) {
//         return run.time([&](taskscale::Phases&) { return run.size; });
//       });
//       return taskscale::serve("mine", "1.0");
//     }
//
// | header   | holds                                                                  |
// |----------|------------------------------------------------------------------------|
// | clock    | the two clocks and how fine they are                                   |
// | threads  | brings the clock of the process up to date                           |
// | json     | what lines are read into and written from                              |
// | describe | what a probe says of itself: runtime, workloads, parameters, variants  |
// | request  | a request, made into a Run                                             |
// | timing   | the timed loop                                                         |
// | serve    | one reply line per request line, until end of input                    |
#pragma once

#include "serve.hpp"
