// What the coroutines of `async` and `union` are: started by whoever awaits them, and resumed by symmetric transfer, so that a
// chain of them takes no stack (https://lewissbaker.github.io/2020/05/11/understanding_symmetric_transfer). The standard
// library has no scheduler: a queue of each thread stands for it.
#pragma once

#include <coroutine>
#include <deque>
#include <exception>

#include "observe.hpp"

namespace interp {

// Coroutines that wait for their turn on this thread.
inline thread_local std::deque<std::coroutine_handle<>> queue;

// Suspends until all coroutines before this one in the queue had their turn.
struct Yield {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const { queue.push_back(self); }
  void await_resume() const noexcept {}
};

// What a coroutine tells its observer; of no size where nobody watches.
template <class Observer>
struct Watch {
  Observer* observer;
  explicit Watch(Observer& observer) : observer(&observer) { observer.made(); }
  void taken() const { observer->taken(); }
};
template <>
struct Watch<Silent> {
  explicit Watch(Silent&) {}
  void taken() const {}
};

// A value to come, which is awaited once. The coroutine is a member function of an encoding, whose `machine` has the observer.
template <class Observer>
class [[nodiscard]] Task {
 public:
  class promise_type {
   public:
    template <class Encoding, class... Arguments>
    explicit promise_type(const Encoding& encoding, const Arguments&...) : watch_(encoding.machine.observer) {}

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Handover {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept { return done.promise().waits_; }
        void await_resume() noexcept {}
      };
      return Handover{};
    }
    void return_value(Value value) { result_ = std::move(value); }
    void unhandled_exception() { result_ = std::current_exception(); }

   private:
    friend Task;
    Value take() {
      watch_.taken();
      if (auto* thrown = std::get_if<std::exception_ptr>(&result_)) std::rethrow_exception(*thrown);
      return std::move(std::get<Value>(result_));
    }

    std::coroutine_handle<> waits_ = std::noop_coroutine();
    std::variant<std::monostate, Value, std::exception_ptr> result_;
    [[no_unique_address]] Watch<Observer> watch_;
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  struct Awaiter {
    std::coroutine_handle<promise_type> task;
    bool await_ready() const noexcept { return task.done(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waits) const noexcept {
      task.promise().waits_ = waits;
      return task;
    }
    Value await_resume() const { return task.promise().take(); }
  };
  Awaiter awaiter() const noexcept { return {handle_}; }
  Awaiter operator co_await() && noexcept { return awaiter(); }

  // Runs it, and what it waits for in the queue, on this thread.
  Value get() && {
    handle_.resume();
    for (; !handle_.done(); queue.pop_front()) queue.front().resume();
    return handle_.promise().take();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

// A coroutine that nobody awaits: it is gone when it is done.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
};

// Has `next` called with the value that `begin` of an encoding gives: at once, or when it is there.
template <class Next>
void follow(Value value, Next next) {
  next(std::move(value));
}
template <class Observer, class Next>
Detached follow(Task<Observer> task, Next next) {
  next(co_await std::move(task));
}
template <class Observer, class Next>
void follow(std::variant<Value, Task<Observer>> outcome, Next next) {
  if (auto* value = std::get_if<Value>(&outcome)) return next(std::move(*value));
  follow(std::get<Task<Observer>>(std::move(outcome)), std::move(next));
}

}  // namespace interp
