// What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "clock.hpp"
#include "json.hpp"

namespace taskscale {

inline constexpr std::uint64_t kProtocol = 1;

struct Run; struct Timing;

// Does the work of a request. What it throws is what the reply says failed.
using Perform = std::function<Timing(const Run&)>;

// What `param` and `variant` declared, in that order and as the description says it.
inline Array workloads;

// How each variant is performed, by the names of its workload and its own.
inline std::map<std::pair<std::string, std::string>, Perform> performs;

// Adds a parameter (1) or a variant (2) to a workload, which the first of them makes.
inline void declare(const std::string& workload, std::size_t kind, Object made) {
  auto known = std::ranges::find_if(workloads, [&](const Json& one) { return *one.find("name")->word() == workload; });
  if (known == workloads.end()) known = workloads.insert(known, Object{{"name", workload}, {"params", Array{}}, {"variants", Array{}}});
  std::get<Array>(std::get<Object>(known->value)[kind].second.value).push_back(std::move(made));
}

// Declares a parameter of a workload; the type of its default (flag, integer or word) is its type, and a word is one of `choices`.
// `unavailable` has the words that are not to be had in this toolchain, each with `reason` and `remedy`.
inline void param(const std::string& workload, const std::string& name, Json fallback, const std::string& help, Array choices = {},
                  Object unavailable = {}) {
  declare(workload, 1, {{"name", name}, {"default", fallback}, {"choices", choices}, {"unavailable", unavailable}, {"help", help}});
}

struct Unavailable { std::string reason, remedy; };

// What there is to say of a variant; every field may be left out: `{.creates_task = false, .note = "the floor"}`.
struct Options {
  bool creates_task = true;                              // each unit is a task that the scheduler sees
  std::vector<std::pair<std::string, Array>> only = {};  // parameter values to which it is limited
  std::optional<std::uint64_t> max_size = {};            // the largest size it can bear; say why in `note`
  std::optional<Unavailable> unavailable = {};           // known, but not to be had in this toolchain
  std::string note = {};                                 // one line for people
};

// Declares a way of doing a workload: a function that takes a `Run` and returns what `run.time` gave.
inline void variant(const std::string& workload, const std::string& name, Options options, Perform perform) {
  Object made{{"name", name}, {"creates_task", options.creates_task}, {"only", Object(options.only.begin(), options.only.end())}};
  if (options.max_size) made.emplace_back("max_size", *options.max_size);
  if (const auto& why = options.unavailable) made.emplace_back("unavailable", Object{{"reason", why->reason}, {"remedy", why->remedy}});
  if (!options.note.empty()) made.emplace_back("note", options.note);
  declare(workload, 2, made);
  performs[{workload, name}] = std::move(perform);
}
inline void variant(const std::string& workload, const std::string& name, Perform perform) {
  variant(workload, name, Options{}, std::move(perform));
}

#ifdef __clang__
inline constexpr const char* kToolchain = "clang++ " __clang_version__;
#else
inline constexpr const char* kToolchain = "g++ " __VERSION__;
#endif

// The reply to `describe`. Measures the clocks' resolution, which takes about a millisecond. `workers` 0: it cannot be said.
inline Json description(const std::string& name, const std::string& version, std::uint64_t workers) {
  const Object runtime{{"name", name}, {"language", "cpp"}, {"version", version}, {"toolchain", kToolchain}};
  const Object clock{{"wall_resolution_ns", resolution_ns(wall_ns)}, {"cpu_resolution_ns", resolution_ns(cpu_ns)}};
  return Object{{"type", "description"}, {"protocol", kProtocol}, {"runtime", runtime}, {"clock", clock},
                {"workers", workers == 0 ? Json() : Json(workers)}, {"workloads", workloads}};
}

}  // namespace taskscale
