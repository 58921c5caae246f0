// `sync`: plain recursion, which cannot suspend. An element that would yields its thread in place. `task`: the same with a
// thread for every node.
#pragma once

#include <future>
#include <thread>

#include "machine.hpp"

namespace interp {

// Evaluates in place, or with `kThreads` each node in a thread of its own, for which its parent waits.
template <class Observer, bool kThreads>
struct Recursion {
  Machine<Observer> machine;

  Value begin(const Node& node) const { return eval(node, kNothing); }
  Value request(const Node& node) const { return begin(node); }

  Value eval(const Node& node, const Env& env) const {
    if constexpr (kThreads) {
      machine.observer.made();
      std::future<Value> future = std::async(std::launch::async, [this, &node, &env] { return evaluated(node, env); });
      machine.observer.taken();
      return future.get();
    } else {
      return evaluated(node, env);
    }
  }

 private:
  Value evaluated(const Node& node, const Env& env) const {
    const Visit visit(machine.observer);
    switch (node.kind) {
      case Node::kLet: return eval(node.below[1], machine.bind(env, node.name, eval(node.below[0], env)));
      case Node::kIf: {
        const Branch branch = machine.branch(node, eval(node.below[0], env));
        const auto* chosen = std::get_if<const Node*>(&branch);
        return chosen != nullptr ? eval(**chosen, env) : std::get<Value>(branch);
      }
      case Node::kBin: {
        Value left = eval(node.below[0], env);
        const std::array<Value, 2> both{std::move(left), eval(node.below[1], env)};
        return call(node.callee, both);
      }
      case Node::kCall: {
        std::vector<Value> values;
        values.reserve(node.below.size());
        for (const Node& one : node.below) values.push_back(eval(one, env));
        return call(node.callee, values);
      }
      default: return machine.leaf(node, env);
    }
  }

  Value call(const Callee& callee, std::span<const Value> arguments) const {
    const auto found = machine.callee(callee, arguments);
    if (const auto* failure = std::get_if<Value>(&found)) return *failure;
    const Function function = std::get<Function>(found);
    return function != nullptr ? function(arguments) : map(arguments);
  }

  Value map(std::span<const Value> arguments) const {
    const auto found = machine.mapped(arguments);
    const auto* mapped = std::get_if<Mapped>(&found);
    if (mapped == nullptr) return std::get<Value>(found);
    std::vector<Value> values;
    values.reserve(mapped->list->size());
    for (const Value& element : *mapped->list) {
      if (machine.begins(element)) {
        std::this_thread::yield();
        machine.observer.suspended();
      }
      values.push_back(eval(*mapped->lambda->body, machine.application(*mapped, element)));
      machine.ends(element);
    }
    return listed(std::move(values));
  }
};

template <class Observer>
using Sync = Recursion<Observer, false>;
template <class Observer>
using Threads = Recursion<Observer, true>;

}  // namespace interp
