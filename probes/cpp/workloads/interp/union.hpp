// `union`: a result is a value or a coroutine, and what follows is chained only where it is a coroutine.
#pragma once

#include "coroutine.hpp"
#include "machine.hpp"

namespace interp {

template <class Observer>
struct Union {
  using Task = interp::Task<Observer>;
  using Outcome = std::variant<Value, Task>;
  Machine<Observer> machine;

  Outcome begin(const Node& node) const { return eval(node, kNothing); }

  Value request(const Node& node) const {
    Outcome outcome = begin(node);
    if (auto* value = std::get_if<Value>(&outcome)) return std::move(*value);
    return std::get<Task>(std::move(outcome)).get();
  }

  Outcome eval(const Node& node, const Env& env) const {
    machine.observer.entered();
    Outcome outcome = evaluated(node, env);
    if constexpr (!Observer::kCounts) return outcome;
    return then(std::move(outcome), [this](Value value) -> Outcome {
      machine.observer.left();
      return value;
    });
  }

 private:
  static constexpr bool has(Flaw flaw) { return Observer::kFlaw == flaw; }

  // An outcome, to be awaited. It has a constructor because g++ 12 destroys a temporary without one twice.
  struct Awaited {
    Outcome outcome;
    explicit Awaited(Outcome outcome) : outcome(std::move(outcome)) {}
    bool await_ready() const { return std::holds_alternative<Value>(outcome) || task().await_ready(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waits) const { return task().await_suspend(waits); }
    Value await_resume() {
      if (auto* value = std::get_if<Value>(&outcome)) return std::move(*value);
      Value value = task().await_resume();
      if constexpr (has(Flaw::kUsedTwice)) (void)task().await_resume();
      return value;
    }
    auto task() const { return std::get<Task>(outcome).awaiter(); }
  };

  // What `next` makes of the value of `first`: at once, or when it is there.
  template <class Next>
  Outcome then(Outcome first, Next next) const {
    if (auto* value = std::get_if<Value>(&first)) return next(std::move(*value));
    return later(std::move(first), std::move(next));
  }

  // What a coroutine is given is its own: whoever calls it is gone when it goes on.
  template <class Next>
  Task later(Outcome first, Next next) const {
    Value value = co_await Awaited(std::move(first));
    co_return co_await Awaited(next(std::move(value)));
  }

  Outcome evaluated(const Node& node, const Env& env) const {
    switch (node.kind) {
      case Node::kLet:
        return then(eval(node.below[0], env), [this, &node, env](Value value) {
          return eval(node.below[1], machine.bind(env, node.name, std::move(value)));
        });
      case Node::kIf:
        return then(eval(node.below[0], env), [this, &node, env](Value condition) -> Outcome {
          Branch branch = machine.branch(node, std::move(condition));
          if (auto* failure = std::get_if<Value>(&branch)) return std::move(*failure);
          return eval(*std::get<const Node*>(branch), env);
        });
      case Node::kBin:
        return then(eval(node.below[0], env), [this, &node, env](Value left) {
          return then(eval(node.below[1], env), [this, &node, left = std::move(left)](Value right) {
            const std::array<Value, 2> both{left, std::move(right)};
            return call(node.callee, both);
          });
        });
      case Node::kCall: return arguments(node, env);
      default: return machine.leaf(node, env);
    }
  }

  Outcome arguments(const Node& node, const Env& env) const {
    std::vector<Value> values;
    values.reserve(node.below.size());
    for (const Node& one : node.below) {
      Outcome outcome = eval(one, env);
      auto* value = std::get_if<Value>(&outcome);
      if (value == nullptr) return arguments_from(node, env, std::move(values), std::move(outcome));
      values.push_back(std::move(*value));
    }
    return call(node.callee, values);
  }

  Task arguments_from(const Node& node, Env env, std::vector<Value> values, Outcome outcome) const {
    values.push_back(co_await Awaited(std::move(outcome)));
    while (values.size() < node.below.size()) values.push_back(co_await Awaited(eval(node.below[values.size()], env)));
    co_return co_await Awaited(call(node.callee, values));
  }

  Outcome call(const Callee& callee, std::span<const Value> arguments) const {
    const auto found = machine.callee(callee, arguments);
    if (const auto* failure = std::get_if<Value>(&found)) return *failure;
    const Function function = std::get<Function>(found);
    return function != nullptr ? function(arguments) : map(arguments);
  }

  // `List::map`. An element begins when the one before it has its value.
  Outcome map(std::span<const Value> arguments) const {
    auto found = machine.mapped(arguments);
    if (auto* failure = std::get_if<Value>(&found)) return std::move(*failure);
    Mapped& mapped = std::get<Mapped>(found);
    std::vector<Value> values;
    values.reserve(mapped.list->size());
    for (const Value& element : *mapped.list) {
      Outcome outcome = apply(mapped, element);
      auto* value = std::get_if<Value>(&outcome);
      if (value == nullptr) return map_from(std::move(mapped), std::move(values), std::move(outcome));
      values.push_back(std::move(*value));
    }
    return listed(std::move(values));
  }

  Task map_from(Mapped mapped, std::vector<Value> values, Outcome outcome) const {
    for (const std::size_t all = mapped.list->size();;) {
      if constexpr (has(Flaw::kTwoAtATime)) {
        if (values.size() + 1 < all) {
          Outcome next = apply(mapped, (*mapped.list)[values.size() + 1]);
          values.push_back(co_await Awaited(std::move(outcome)));
          outcome = std::move(next);
          continue;
        }
      }
      values.push_back(co_await Awaited(std::move(outcome)));
      if (values.size() == all) break;
      outcome = apply(mapped, (*mapped.list)[values.size()]);
    }
    co_return listed(std::move(values));
  }

  Outcome apply(const Mapped& mapped, const Value& element) const {
    const bool suspends = machine.begins(element);
    if constexpr (has(Flaw::kSwallowed)) {
      if (suspends) (void)paused(mapped, element);
    }
    const bool waits = suspends && !has(Flaw::kSwallowed);
    Outcome outcome = waits ? paused(mapped, element) : eval(*mapped.lambda->body, machine.application(mapped, element));
    if constexpr (!Observer::kCounts) return outcome;
    return then(std::move(outcome), [this, element](Value value) -> Outcome {
      machine.ends(element);
      return value;
    });
  }

  Task paused(Mapped mapped, Value element) const {
    co_await Yield();
    machine.observer.suspended();
    co_return co_await Awaited(eval(*mapped.lambda->body, machine.application(mapped, element)));
  }
};

}  // namespace interp
