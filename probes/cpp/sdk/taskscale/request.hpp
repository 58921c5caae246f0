// A `run` request, checked against the description: every field present and of its kind, every parameter declared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "describe.hpp"
#include "json.hpp"
#include "timing.hpp"

namespace taskscale {

inline constexpr std::uint64_t kMaxSeed = (std::uint64_t{1} << 53) - 1;  // JavaScript's numbers are exact up to here

// What a `run` request asks for.
struct Run {
  std::uint64_t id = 0, size = 0, iterations = 0, seed = 0;  // size and iterations are at least 1
  bool verify = false, phases = false;
  Object params;  // a value for every declared parameter

  // Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer.
  template <class One>
  Timing time(One&& one) const {
    return timed(iterations, phases, one);
  }

  // A declared parameter, by the type of its default.
  std::uint64_t integer(std::string_view name) const { return declared<std::uint64_t>(name); }
  bool flag(std::string_view name) const { return declared<bool>(name); }
  const std::string& word(std::string_view name) const { return declared<std::string>(name); }

 private:
  template <class T>
  const T& declared(std::string_view name) const {
    for (const auto& [known, json] : params) {
      if (known != name) continue;
      if (const T* value = std::get_if<T>(&json.value)) return *value;
    }
    throw Refused("the probe asks for a parameter " + in_quotes(name) + " of a type that it did not declare");
  }
};

inline std::string listed(const Array& values) {
  std::string out;
  for (const Json& value : values) out += (out.empty() ? "" : ", ") + value.text();
  return out;
}

inline bool contains(const Array& values, const Json& wanted) {
  for (const Json& value : values) {
    if (value.text() == wanted.text()) return true;
  }
  return false;
}

inline const Json& field(const Json& message, const char* name) {
  if (const Json* found = message.find(name)) return *found;
  throw Refused("the request has no field " + in_quotes(name));
}

inline std::uint64_t integer_field(const Json& message, const char* name, std::uint64_t least = 0) {
  const Json& value = field(message, name);
  if (value.integer() == nullptr) throw Refused(name + (" is " + value.text()) + ", not an integer from 0 to 2^64 - 1");
  if (*value.integer() < least) throw Refused(std::string(name) + " is 0; it must be at least 1");
  return *value.integer();
}

template <class T>
const T& named(const std::vector<T>& all, const std::string& name, const char* what) {
  std::string known;
  for (const T& one : all) {
    if (one.name == name) return one;
    known += (known.empty() ? "" : ", ") + one.name;
  }
  throw Refused(std::string("unknown ") + what + " " + in_quotes(name) + "; known here: " + known);
}

template <class T>
const T& named_field(const Json& message, const char* what, const std::vector<T>& all) {
  const Json& value = field(message, what);
  if (value.word() == nullptr) throw Refused(what + (" is " + value.text()) + ", not a string");
  return named(all, *value.word(), what);
}

inline bool reserved(const Json& given, const char* name) {
  const Json* value = given.find(name);
  if (value == nullptr) return false;
  if (value->flag() != nullptr) return *value->flag();
  throw Refused("parameter " + in_quotes(name) + " cannot be " + value->text() + "; it is true or false");
}

inline void check(const Param& param, const Json& value) {
  const bool kind = value.value.index() == param.fallback.value.index();
  if (kind && (param.choices.empty() || contains(param.choices, value))) return;
  const std::string is = !param.choices.empty() ? "one of " + listed(param.choices)
                         : param.fallback.flag()  ? "true or false"
                         : param.fallback.integer() ? "an integer from 0 to 2^64 - 1"
                                                    : "a word";
  throw Refused("parameter " + in_quotes(param.name) + " cannot be " + value.text() + "; it is " + is);
}

// All declared parameters, with the values given or else their defaults; where the variant excludes a default, the first
// value that it allows.
inline Object resolved(const Workload& workload, const Variant& variant, const Json& given) {
  for (const auto& [name, value] : *given.object()) {
    if (name != "verify" && name != "phases") check(named(workload.params, name, "parameter"), value);
  }
  Object params;
  for (const Param& param : workload.params) {
    const Json* value = given.find(param.name);
    Json chosen = value != nullptr ? *value : param.fallback;
    for (const auto& [name, allowed] : variant.options.only) {
      if (name != param.name || contains(allowed, chosen)) continue;
      if (value == nullptr && !allowed.empty()) chosen = allowed.front();
      else {
        throw Refused("variant " + in_quotes(variant.name) + " cannot be run with " + name + " " + chosen.text() + ", only with " +
                      listed(allowed));
      }
    }
    params.emplace_back(param.name, chosen);
  }
  return params;
}

// The variant and the request; throws `Refused` where it cannot be done.
inline std::pair<const Variant*, Run> request(const Json& message) {
  const Workload& workload = named_field(message, "workload", workloads());
  const Variant& variant = named_field(message, "variant", workload.variants);
  const Json none{Object{}}, *params = message.find("params"), &given = params == nullptr ? none : *params;
  if (given.object() == nullptr) throw Refused("params is " + given.text() + ", not an object");
  Run run{.id = integer_field(message, "id"),
          .size = integer_field(message, "size", 1),
          .iterations = integer_field(message, "iterations", 1),
          .seed = integer_field(message, "seed"),
          .verify = reserved(given, "verify"),
          .phases = reserved(given, "phases"),
          .params = resolved(workload, variant, given)};
  if (variant.options.max_size && run.size > *variant.options.max_size) {
    throw Refused("size " + std::to_string(run.size) + " is above " + std::to_string(*variant.options.max_size) +
                  ", the most that variant " + in_quotes(variant.name) + " can bear");
  }
  if (run.seed > kMaxSeed) {
    throw Refused("seed " + std::to_string(run.seed) + " is above " + std::to_string(kMaxSeed) + " (2^53 - 1)");
  }
  if (const auto& missing = variant.options.unavailable) {
    throw Refused("variant " + in_quotes(variant.name) + " " + missing->reason + "; " + missing->remedy);
  }
  return {&variant, std::move(run)};
}

}  // namespace taskscale
