// The least of a test framework: a check that names what failed and counts.
#pragma once

#include <cstdio>
#include <string>

inline int failures = 0;

#define CHECK(condition, seen)                                                                                    \
  do {                                                                                                            \
    if (!(condition)) {                                                                                           \
      ++failures;                                                                                                 \
      std::fprintf(stderr, "%s:%d: not so: %s\n%s\n", __FILE__, __LINE__, #condition, std::string(seen).c_str()); \
    }                                                                                                             \
  } while (false)
