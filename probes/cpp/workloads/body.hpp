// What a task does, and the three callables that every runtime is given. The kind of body is chosen once per request, so
// that the loop over tasks is compiled for each and has no branch on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "count.hpp"
#include "spin.hpp"

// Never inlined, or the task would be empty.
[[gnu::noinline]] inline std::uint64_t product(std::size_t i) { return 31 * static_cast<std::uint64_t>(i); }

// What is done around tasks that nobody counts.
struct Uncounted {
  // Called by the creator before it creates a task.
  void created() const {}

  // The answer of results in the order of their tasks.
  std::uint64_t ordered(const std::vector<std::uint64_t>& results) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t result : results) sum += result;
    return sum;
  }

  // The answer of tasks without results.
  std::uint64_t discarded(std::size_t size) const { return size; }
};

// Gives `31 * i`.
struct Plain : Uncounted {
  std::uint64_t result(std::size_t i) const { return product(i); }
};

// Gives `spin(seed + i, work)`.
struct Spun : Uncounted {
  std::uint64_t seed, work;
  Spun(std::uint64_t seed, std::uint64_t work) : seed(seed), work(work) {}
  std::uint64_t result(std::size_t i) const { return spin(seed + i, work); }
};

// Does nothing: the task of `nop`.
struct Nothing : Uncounted {};

// Any of them, counted. One type for all three, since its time says nothing and each type is compiled for each form.
struct Counted {
  Count* count;
  enum { kPlain, kSpun, kNothing } kind;
  Spun spun{0, 0};

  void created() const { count->created(); }

  std::uint64_t result(std::size_t i) const {
    const std::uint64_t result = wanted(i);
    count->executed(result);
    return result;
  }

  std::uint64_t ordered(const std::vector<std::uint64_t>& results) const {
    // A sum alone would not show that results lie in the wrong places.
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == wanted(i)) continue;
      throw taskscale::Refused("result " + std::to_string(i) + " is " + std::to_string(results[i]) + ", not " + std::to_string(wanted(i)));
    }
    return spun.ordered(results);
  }

  std::uint64_t discarded(std::size_t) const { return count->take_sum(); }

 private:
  // A task of `nop` counts itself.
  std::uint64_t wanted(std::size_t i) const { return kind == kNothing ? 1 : kind == kPlain ? product(i) : spun.result(i); }
};

// Task `i` where nobody wants its result: thrown away in a way that the compiler cannot skip.
template <class Body>
inline void discard(const Body& body, std::size_t i) {
  std::uint64_t result = body.result(i);
  black_box(result);
}
inline void discard(const Nothing&, std::size_t) {}

// The callables. A task carries a copy of its body, which for `Plain` and `Nothing` takes no room: as small as what one
// would write by hand, and small enough (16 bytes) for `std::function` to hold without allocating.

template <class Body>
struct GiveResult {
  std::size_t i;
  [[no_unique_address]] Body body;
  std::uint64_t operator()() const { return body.result(i); }
};

template <class Body>
struct FillSlot {
  std::uint64_t* slots;
  std::size_t i;
  [[no_unique_address]] Body body;
  void operator()() const { slots[i] = body.result(i); }
};

template <class Body>
struct Discard {
  std::size_t i;
  [[no_unique_address]] Body body;
  void operator()() const { discard(body, i); }
};

static_assert(sizeof(FillSlot<Plain>) == 16 && sizeof(Discard<Nothing>) == 8 && sizeof(GiveResult<Plain>) == 8);
