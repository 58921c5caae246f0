// What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "json.hpp"

namespace taskscale {

inline constexpr std::uint64_t kProtocol = 1;

struct Run;
struct Timing;

// Does the work of a request. What it throws is what the reply says failed.
using Perform = std::function<Timing(const Run&)>;

// A parameter; the type of its default (flag, integer or word) is its type, and a word is one of `choices`.
struct Param {
  std::string name;
  Json fallback;
  std::string help;
  Array choices;
};

struct Unavailable {
  std::string reason, remedy;
};

// What there is to say of a variant; every field may be left out: `{.creates_task = false, .note = "the floor"}`.
struct Options {
  bool creates_task = true;                               // each unit is a task that the scheduler sees
  std::vector<std::pair<std::string, Array>> only = {};   // parameter values to which it is limited
  std::optional<std::uint64_t> max_size = {};             // the largest size it can bear; say why in `note`
  std::optional<Unavailable> unavailable = {};            // known, but not to be had in this toolchain
  std::string note = {};                                  // one line for people
};

struct Variant {
  std::string name;
  Options options;
  Perform perform;
};

struct Workload {
  std::string name;
  std::vector<Param> params;
  std::vector<Variant> variants;
};

// What `param` and `variant` declared, in that order.
inline std::vector<Workload>& workloads() {
  static std::vector<Workload> all;
  return all;
}

inline Workload& workload(const std::string& name) {
  for (Workload& known : workloads()) {
    if (known.name == name) return known;
  }
  return workloads().emplace_back(Workload{name, {}, {}});
}

// Declares a parameter of a workload.
inline void param(const std::string& to, std::string name, Json fallback, std::string help, Array choices = {}) {
  workload(to).params.push_back({std::move(name), std::move(fallback), std::move(help), std::move(choices)});
}

// Declares a way of doing a workload: a function that takes a `Run` and returns what `run.time` gave.
inline void variant(const std::string& of, std::string name, Options options, Perform perform) {
  workload(of).variants.push_back({std::move(name), std::move(options), std::move(perform)});
}
inline void variant(const std::string& of, std::string name, Perform perform) {
  variant(of, std::move(name), Options{}, std::move(perform));
}

inline std::string toolchain() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

inline Json described(const Variant& variant) {
  const Options& options = variant.options;
  Object fields{{"name", variant.name}, {"creates_task", options.creates_task}};
  Object only;
  for (const auto& [name, values] : options.only) only.emplace_back(name, values);
  if (!only.empty()) fields.emplace_back("only", only);
  if (options.max_size) fields.emplace_back("max_size", *options.max_size);
  if (const auto& missing = options.unavailable) {
    fields.emplace_back("unavailable", Object{{"reason", missing->reason}, {"remedy", missing->remedy}});
  }
  if (!options.note.empty()) fields.emplace_back("note", options.note);
  return fields;
}

// The reply to `describe`. Measures the clocks' resolution, which takes about a millisecond. `workers` 0: it cannot be said.
inline Json description(const std::string& name, const std::string& version, std::uint64_t workers) {
  Array all;
  for (const Workload& workload : workloads()) {
    Array params, variants;
    for (const Param& p : workload.params) {
      params.push_back(Object{{"name", p.name}, {"default", p.fallback}, {"choices", p.choices}, {"help", p.help}});
    }
    for (const Variant& variant : workload.variants) variants.push_back(described(variant));
    all.push_back(Object{{"name", workload.name}, {"params", params}, {"variants", variants}});
  }
  const Object runtime{{"name", name}, {"language", "cpp"}, {"version", version}, {"toolchain", toolchain()}};
  const Object clock{{"wall_resolution_ns", resolution_ns(wall_ns)}, {"cpu_resolution_ns", resolution_ns(cpu_ns)}};
  return Object{{"type", "description"},
                {"protocol", kProtocol},
                {"runtime", runtime},
                {"clock", clock},
                {"workers", workers == 0 ? Json() : Json(workers)},
                {"workloads", all}};
}

}  // namespace taskscale
