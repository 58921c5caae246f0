// A `run` request, made into a Run. The tool has held it to the description before it was sent (`probes/PROTOCOL.md`).
#pragma once

#include "describe.hpp"
#include "timing.hpp"

namespace taskscale {

// The value of a name, of that type; throws `Refused` where there is none.
template <class T>
const T& field(const Json& object, const std::string& name) {
  const Json* found = object.find(name);
  if (found == nullptr || !std::holds_alternative<T>(found->value)) throw Refused("there is no " + name + " of the type that is wanted");
  return std::get<T>(found->value);
}

// What a `run` request asks for.
struct Run {
  std::uint64_t id = 0, size = 0, iterations = 0, seed = 0;
  bool verify = false, phases = false;
  Json params;  // a value for every declared parameter

  // Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer.
  template <class One>
  Timing time(One&& one) const { return timed(iterations, phases, one); }

  // Times of each iteration `one(phases, made)` alone: `made` is what `setup()` gave, anew each time, and `teardown(made)` ends it.
  template <class Setup, class One>
  Timing time_each(Setup&& setup, One&& one) const { return time_each(setup, one, [](auto&) {}); }
  template <class Setup, class One, class Teardown>
  Timing time_each(Setup&& setup, One&& one, Teardown&& teardown) const { return timed_each(iterations, phases, setup, one, teardown); }

  // A declared parameter, by the type of its default.
  std::uint64_t integer(const std::string& name) const { return field<std::uint64_t>(params, name); }
  bool flag(const std::string& name) const { return field<bool>(params, name); }
  const std::string& word(const std::string& name) const { return field<std::string>(params, name); }
};

// The one of that name; throws `Refused` where there is none.
inline const Json& known(const Array& all, const std::string& name, const std::string& what) {
  std::string names;
  for (const Json& one : all) {
    if (field<std::string>(one, "name") == name) return one;
    names += " " + field<std::string>(one, "name");
  }
  throw Refused("unknown " + what + " " + in_quotes(name) + "; known here:" + names);
}

// What an absent value means: the default, or where the variant excludes that, the first value that it allows.
inline const Json& fallback(const Json& param, const Json& variant) {
  const Json& usual = *param.find("default");
  const Json* allowed = variant.find("only")->find(field<std::string>(param, "name"));
  if (allowed == nullptr) return usual;
  const Array& values = std::get<Array>(allowed->value);
  const auto same = [&](const Json& one) { return one.text() == usual.text(); };
  return std::ranges::any_of(values, same) ? usual : values.front();
}

// How what is asked for is performed, and the run.
inline std::pair<const Perform&, Run> request(const Json& message) {
  const auto &workload = field<std::string>(message, "workload"), &name = field<std::string>(message, "variant");
  const Json& about = known(workloads, workload, "workload");
  const Json& variant = known(field<Array>(about, "variants"), name, "variant");
  Object params{{"verify", false}, {"phases", false}};
  for (const Json& param : field<Array>(about, "params")) params.emplace_back(field<std::string>(param, "name"), fallback(param, variant));
  // Of equal names the last counts.
  const Object given = message.find("params") == nullptr ? Object{} : field<Object>(message, "params");
  params.insert(params.end(), given.begin(), given.end());
  const auto number = [&](const char* name) { return field<std::uint64_t>(message, name); };
  const auto flag = [&](const char* name) { return field<bool>(params, name); };
  Run run{number("id"), number("size"), number("iterations"), number("seed"), flag("verify"), flag("phases"), params};
  return {performs.at({workload, name}), std::move(run)};
}

}  // namespace taskscale
