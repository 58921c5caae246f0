// Values, the environment, and the builtins that cannot suspend.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <taskscale/probe.hpp>

namespace interp {

struct Node;
struct Cell;
struct Closure;
struct Failure { std::string text; };

// A persistent linked list of names and values; the empty one is null.
using Env = std::shared_ptr<const Cell>;
inline const Env kNothing;

struct Value;
using List = std::shared_ptr<const std::vector<Value>>;

struct Value : std::variant<std::int64_t, bool, std::string, List, std::shared_ptr<const Closure>, Failure> {
  using variant::variant;
};

struct Cell {
  const std::string* name;
  Value value;
  Env rest;
  Cell(const std::string& name, Value value, Env rest) : name(&name), value(std::move(value)), rest(std::move(rest)) {}
};

// A function of the program with the environment in which it was written.
struct Closure {
  Env env;
  const std::vector<std::string>* params;
  const Node* body;
  Closure(Env env, const std::vector<std::string>& params, const Node& body) : env(std::move(env)), params(&params), body(&body) {}
};

// The value that was bound last under `name`.
inline Value find(const Env& env, const std::string& name) {
  for (const Cell* at = env.get(); at != nullptr; at = at->rest.get()) {
    if (*at->name == name) return at->value;
  }
  return Failure{"no variable " + name};
}

// The first error among these values; null where there is none.
inline const Value* first_failure(std::span<const Value> values) {
  for (const Value& value : values) {
    if (std::holds_alternative<Failure>(value)) return &value;
  }
  return nullptr;
}

// The list of these values, or the first error among them.
inline Value listed(std::vector<Value> values) {
  if (const Value* failure = first_failure(values)) return *failure;
  return std::make_shared<const std::vector<Value>>(std::move(values));
}

// A builtin. `List::map`, which may suspend, is null: every encoding has its own.
using Function = Value (*)(std::span<const Value>);

// Both arguments, where they are integers.
inline const std::int64_t* integers(std::span<const Value> arguments, std::int64_t& right) {
  if (arguments.size() != 2) return nullptr;
  const auto* second = std::get_if<std::int64_t>(&arguments[1]);
  if (second != nullptr) right = *second;
  return second == nullptr ? nullptr : std::get_if<std::int64_t>(&arguments[0]);
}

inline Value range(std::span<const Value> arguments) {
  std::int64_t last = 0;
  const std::int64_t* first = integers(arguments, last);
  if (first == nullptr) return Failure{"Int::range needs two integers"};
  std::vector<Value> values;
  if (*first <= last) values.reserve(static_cast<std::size_t>(last - *first + 1));
  for (std::int64_t i = *first; i <= last; ++i) values.emplace_back(i);
  return std::make_shared<const std::vector<Value>>(std::move(values));
}

inline Value remainder(std::span<const Value> arguments) {
  std::int64_t right = 0;
  const std::int64_t* left = integers(arguments, right);
  if (left == nullptr) return Failure{"Int::% needs two integers"};
  // The smallest integer by -1 overflows.
  return std::int64_t{right == 0 || right == -1 ? 0 : *left % right};
}

inline Value equal(std::span<const Value> arguments) {
  std::int64_t right = 0;
  const std::int64_t* left = integers(arguments, right);
  if (left == nullptr) return Failure{"Int::== needs two integers"};
  return *left == right;
}

inline Value to_text(std::span<const Value> arguments) {
  const auto* integer = arguments.size() == 1 ? std::get_if<std::int64_t>(&arguments[0]) : nullptr;
  if (integer == nullptr) return Failure{"Int::toString needs an integer"};
  return std::to_string(*integer);
}

// The builtins by name.
inline const std::unordered_map<std::string, Function> functions{
    {"Int::range", range}, {"Int::%", remainder}, {"Int::==", equal}, {"Int::toString", to_text}, {"List::map", nullptr}};

// Appends a value as compact JSON. Throws `Refused` where JSON has no form for it.
inline void write(const Value& value, std::string& text) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    text += std::to_string(*integer);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    text += *flag ? "true" : "false";
  } else if (const auto* word = std::get_if<std::string>(&value)) {
    text += taskscale::in_quotes(*word);
  } else if (const auto* list = std::get_if<List>(&value)) {
    text += '[';
    for (const Value& one : **list) {
      if (&one != &(*list)->front()) text += ',';
      write(one, text);
    }
    text += ']';
  } else {
    const auto* failure = std::get_if<Failure>(&value);
    throw taskscale::Refused("a request's output is no value: " + (failure != nullptr ? failure->text : "a lambda"));
  }
}

}  // namespace interp
