// What an instrumented run counts. A timed evaluator is compiled with `Silent`, which is nothing.
#pragma once

#include <algorithm>
#include <mutex>

#include "value.hpp"

namespace interp {

// What a test breaks.
enum class Flaw { kNone, kTwoAtATime, kSwallowed, kUsedTwice };

// Sees nothing.
struct Silent {
  static constexpr bool kCounts = false;
  static constexpr Flaw kFlaw = Flaw::kNone;
  void entered() const {}
  void left() const {}
  void called() const {}
  void extended() const {}
  void begins(std::int64_t) const {}
  void has_value(std::int64_t) const {}
  void suspended() const {}
  void made() const {}   // a result that can be used once is there to be used
  void taken() const {}  // it was used
  void answered(const std::string&) const {}
};

// FNV-1a with 64 bits.
inline std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

// Counts the requests of one worker, behind one lock: `task` has threads.
template <Flaw kBroken = Flaw::kNone>
class Counting {
 public:
  static constexpr bool kCounts = true;
  static constexpr Flaw kFlaw = kBroken;

  void entered() {
    const std::lock_guard lock(mutex_);
    ++nodes_;
    deepest_ = std::max(deepest_, ++live_);
  }
  void left() { count(live_, -1); }
  void called() { count(builtins_); }
  void extended() { count(extensions_); }
  void begins(std::int64_t element) {
    count(applications_);
    logged('B', element);
  }
  void has_value(std::int64_t element) { logged('E', element); }
  void suspended() { count(suspended_); }
  void made() { count(unused_); }
  void taken() { count(unused_, -1); }

  // A request has its output, and the log is that of the next one.
  void answered(const std::string& text) {
    const std::lock_guard lock(mutex_);
    output_ = fnv1a(text);
    order_ = fnv1a(log_);
    log_.clear();
    // What was never used does not make up for what was used twice in another request.
    wrong_uses_ += unused_ < 0 ? -unused_ : unused_;
    unused_ = 0;
  }

  // Adds what another worker's has, when both are done. Order and output are those of the last worker that answered.
  void add(const Counting& other) {
    nodes_ += other.nodes_, builtins_ += other.builtins_, applications_ += other.applications_, extensions_ += other.extensions_;
    suspended_ += other.suspended_, wrong_uses_ += other.wrong_uses_;
    deepest_ = std::max(deepest_, other.deepest_);
    if (other.nodes_ > 0) order_ = other.order_, output_ = other.output_;
  }

  // The counts, under the names of the protocol. Integers of 64 bits are exact in this probe's replies.
  taskscale::Object extra() const {
    return {{"nodes", nodes_}, {"builtins", builtins_}, {"applications", applications_}, {"extensions", extensions_},
            {"deepest", deepest_}, {"order", order_}, {"output", output_}, {"suspended", suspended_},
            {"consumed_twice", wrong_uses_}};
  }

 private:
  void count(std::int64_t& sum, std::int64_t by = 1) {
    const std::lock_guard lock(mutex_);
    sum += by;
  }
  void logged(char what, std::int64_t element) {
    const std::lock_guard lock(mutex_);
    (log_ += what) += " " + std::to_string(element) + "\n";
  }

  std::mutex mutex_;
  std::string log_;
  std::int64_t nodes_ = 0, live_ = 0, deepest_ = 0, builtins_ = 0, applications_ = 0, extensions_ = 0, suspended_ = 0, unused_ = 0,
               wrong_uses_ = 0;
  std::uint64_t order_ = 0, output_ = 0;
};

}  // namespace interp
