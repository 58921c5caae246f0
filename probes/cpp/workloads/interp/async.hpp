// `async`: a coroutine at every node and builtin. `async/sync_caller`: builtins that cannot suspend are called.
#pragma once

#include "coroutine.hpp"
#include "machine.hpp"

namespace interp {

// A coroutine here may borrow what it is given: whoever calls it awaits it at once, and lives until it is done.
template <class Observer, bool kSyncCaller>
struct Coroutines {
  using Task = interp::Task<Observer>;
  Machine<Observer> machine;

  Task begin(const Node& node) const { return eval(node, kNothing); }
  Value request(const Node& node) const { return begin(node).get(); }

  Task eval(const Node& node, const Env& env) const {
    const Visit visit(machine.observer);
    switch (node.kind) {
      case Node::kLet: {
        Value value = co_await eval(node.below[0], env);
        const Env extended = machine.bind(env, node.name, std::move(value));
        co_return co_await eval(node.below[1], extended);
      }
      case Node::kIf: {
        const Branch branch = machine.branch(node, co_await eval(node.below[0], env));
        if (const auto* failure = std::get_if<Value>(&branch)) co_return *failure;
        co_return co_await eval(*std::get<const Node*>(branch), env);
      }
      case Node::kBin: {
        Value left = co_await eval(node.below[0], env);
        Value right = co_await eval(node.below[1], env);
        const std::array<Value, 2> both{std::move(left), std::move(right)};
        const auto function = machine.callee(node.callee, both);
        if (const Function* plain = direct(function)) co_return (*plain)(both);
        co_return co_await call(function, both);
      }
      case Node::kCall: {
        std::vector<Value> values;
        values.reserve(node.below.size());
        for (const Node& one : node.below) values.push_back(co_await eval(one, env));
        const auto function = machine.callee(node.callee, values);
        if (const Function* plain = direct(function)) co_return (*plain)(values);
        co_return co_await call(function, values);
      }
      default: co_return machine.leaf(node, env);
    }
  }

 private:
  using Found = std::variant<Function, Value>;

  // The function that the caller may call without awaiting; null where it may not.
  static const Function* direct(const Found& found) {
    const Function* function = kSyncCaller ? std::get_if<Function>(&found) : nullptr;
    return function != nullptr && *function != nullptr ? function : nullptr;
  }

  Task call(const Found& found, std::span<const Value> arguments) const {
    const Function* function = std::get_if<Function>(&found);
    return function != nullptr && *function == nullptr ? map(arguments) : builtin(found, arguments);
  }

  Task builtin(const Found& found, std::span<const Value> arguments) const {
    if (const auto* failure = std::get_if<Value>(&found)) co_return *failure;
    co_return std::get<Function>(found)(arguments);
  }

  Task map(std::span<const Value> arguments) const {
    const auto found = machine.mapped(arguments);
    if (const auto* failure = std::get_if<Value>(&found)) co_return *failure;
    const Mapped& mapped = std::get<Mapped>(found);
    std::vector<Value> values;
    values.reserve(mapped.list->size());
    for (const Value& element : *mapped.list) {
      if (machine.begins(element)) {
        co_await Yield();
        machine.observer.suspended();
      }
      const Env env = machine.application(mapped, element);
      values.push_back(co_await eval(*mapped.lambda->body, env));
      machine.ends(element);
    }
    co_return listed(std::move(values));
  }
};

template <class Observer>
using Async = Coroutines<Observer, false>;
template <class Observer>
using SyncCaller = Coroutines<Observer, true>;

}  // namespace interp
