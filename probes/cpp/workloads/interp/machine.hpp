// What the evaluators of all encodings share.
#pragma once

#include "observe.hpp"
#include "program.hpp"

namespace interp {

// The list and the lambda of `List::map`.
struct Mapped {
  List list;
  std::shared_ptr<const Closure> lambda;
};

// A branch to be evaluated, or the value of the `if` where that is an error.
using Branch = std::variant<const Node*, Value>;

// An interpreter: which elements suspend, and who watches.
template <class Observer>
struct Machine {
  std::int64_t every;  // an element that this divides suspends; none where it is 0
  Observer& observer;

  // What evaluates no other node with it. Only a variable can give an error.
  static bool is_leaf(const Node& node) { return node.kind <= Node::kLambda; }
  Value leaf(const Node& node, const Env& env) const {
    if (node.kind == Node::kLiteral) return node.literal;
    if (node.kind == Node::kVariable) return find(env, node.name);
    return std::make_shared<const Closure>(env, node.params, node.below[0]);
  }

  // The function of a call (null: `List::map`), or the call's value where that is an error.
  std::variant<Function, Value> callee(const Callee& callee, std::span<const Value> arguments) const {
    if (const Value* failure = first_failure(arguments)) return *failure;
    observer.called();
    if (callee.linked) return *callee.linked;
    const auto known = functions.find(callee.name);
    if (known == functions.end()) return Value(Failure{"no function " + callee.name});
    return known->second;
  }

  // The environment with one more name.
  Env bind(const Env& env, const std::string& name, Value value) const {
    observer.extended();
    return std::make_shared<const Cell>(name, std::move(value), env);
  }

  // Which branch a condition chooses.
  static Branch branch(const Node& node, Value condition) {
    if (const bool* flag = std::get_if<bool>(&condition)) return &node.below[*flag ? 1 : 2];
    if (std::holds_alternative<Failure>(condition)) return condition;
    return Value(Failure{"a condition must be a boolean"});
  }

  // The arguments of `List::map`, or its value where that is an error.
  static std::variant<Mapped, Value> mapped(std::span<const Value> arguments) {
    const auto* list = arguments.size() == 2 ? std::get_if<List>(&arguments[0]) : nullptr;
    const auto* lambda = list != nullptr ? std::get_if<std::shared_ptr<const Closure>>(&arguments[1]) : nullptr;
    if (lambda != nullptr && (*lambda)->params->size() == 1) return Mapped{*list, *lambda};
    return Value(Failure{"List::map needs a list and a lambda of one parameter"});
  }

  // Begins the application to `element`. Returns whether it suspends.
  bool begins(const Value& element) const {
    const auto* integer = std::get_if<std::int64_t>(&element);
    if (integer == nullptr) return false;
    observer.begins(*integer);
    return every != 0 && *integer % every == 0;
  }

  // The environment of an application to `element`.
  Env application(const Mapped& mapped, const Value& element) const {
    return bind(mapped.lambda->env, mapped.lambda->params->front(), element);
  }

  // Ends the application to `element`, which has its value.
  void ends(const Value& element) const {
    if (const auto* integer = std::get_if<std::int64_t>(&element)) observer.has_value(*integer);
  }
};

// A node that is being evaluated, for as long as this lives.
template <class Observer>
struct Visit {
  Observer& observer;
  explicit Visit(Observer& observer) : observer(observer) { observer.entered(); }
  ~Visit() { observer.left(); }
  Visit(const Visit&) = delete;
};

}  // namespace interp
