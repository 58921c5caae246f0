// taskscale/taskflow.hpp: a digest of what a Taskflow executor does, live. What that costs a task: docs/guides/live-taskflow.md.
//
//     tf::Executor executor;
//     auto observer = executor.make_observer<taskscale::DigestObserver>();
//     executor.run(taskflow).wait();
//     observer->digest(std::cerr);
//
// Works with Taskflow 3.9 and 4.1. Link with -ltaskscale.
//
// Attach it before the first run, or between runs: Taskflow walks its observers without a lock. `digest`, `json` and
// `tasks` may be called at any moment. After `executor.async(f).get()` the exit of that task may still be under way
// (measured by others in a quarter of all cases); `executor.wait_for_all()` waits for it. A task that is open counts up to
// now and is called "(still running)".
#pragma once

#include <taskflow/taskflow.hpp>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <taskscale/taskscale.h>

namespace taskscale {

// Observes one executor.
class DigestObserver : public tf::ObserverInterface {
 public:
  // `exact` times every task, also while they are tiny, at some 20 to 100 ns each:
  // executor.make_observer<taskscale::DigestObserver>(true).
  explicit DigestObserver(bool exact = false) : flags_(exact ? TASKSCALE_EXACT : 0u) {}
  DigestObserver(const DigestObserver&) = delete;
  DigestObserver& operator=(const DigestObserver&) = delete;
  ~DigestObserver() override { taskscale_observer_free(observer_); }

  // Called by Taskflow, in the thread that attaches the observer.
  void set_up(std::size_t workers) final {
    taskscale_observer_free(observer_);
    workers_.clear();
    observer_ = taskscale_observer_new(TASKSCALE_ABI, "taskflow", static_cast<std::uint32_t>(workers), flags_);
    if (observer_ == nullptr) return;  // a library of another interface: `digest` says so
    for (std::size_t i = 0; i < workers; ++i) {
      workers_.push_back(taskscale_observer_worker(observer_, static_cast<std::uint32_t>(i)));
    }
  }

  // Called by Taskflow, on the worker.
  void on_entry(tf::WorkerView worker, tf::TaskView) final {
    const auto id = worker.id();
    if (id < workers_.size()) taskscale_begin(workers_[id]);
  }

  // Called by Taskflow, on the worker.
  void on_exit(tf::WorkerView worker, tf::TaskView task) final {
    const auto id = worker.id();
    if (id >= workers_.size()) return;
    const std::string& name = task.name();
    taskscale_end(workers_[id], name.data(), name.size());
  }

  // Writes the digest: at most 2,048 bytes of text.
  void digest(std::ostream& out) const { out << text(TASKSCALE_TEXT); }

  // The digest as JSON, contract taskscale.digest/1.
  std::string json() const { return text(TASKSCALE_JSON); }

  // The digest as Markdown.
  std::string markdown() const { return text(TASKSCALE_MARKDOWN); }

  // The name of the diagnosis alone: HEALTHY, SCHEDULING_OVERHEAD, ...
  std::string pattern() const { return text(TASKSCALE_PATTERN); }

  // Tasks since the beginning or the last `clear`.
  std::uint64_t tasks() const { return observer_ == nullptr ? 0 : taskscale_observer_tasks(observer_); }

  // Memory that it holds, in bytes: less than 18 KB a worker, after a thousand tasks and after a billion.
  std::size_t bytes() const { return observer_ == nullptr ? 0 : taskscale_observer_bytes(observer_); }

  // Forgets what was, for instance between two phases of a program. Tasks that are open are left out when they end.
  void clear() {
    if (observer_ != nullptr) taskscale_observer_clear(observer_);
  }

 private:
  std::string text(std::uint32_t format) const {
    if (observer_ == nullptr) {
      return "taskscale: no digest: the library that is linked has another interface than taskscale.h, or no executor "
             "was attached; build both from the same release\n";
    }
    std::string out(taskscale_observer_write(observer_, format, nullptr, 0) + 256, '\0');
    // The second digest may be longer than the first: workers go on meanwhile.
    const std::size_t length = taskscale_observer_write(observer_, format, &out[0], out.size());
    out.resize(length < out.size() ? length : out.size() - 1);
    return out;
  }

  std::uint32_t flags_;
  taskscale_observer* observer_ = nullptr;
  std::vector<taskscale_worker*> workers_;
};

}  // namespace taskscale

// For those who know the observer by this name. Who has another class of that name defines TASKSCALE_NO_TF_ALIAS.
#ifndef TASKSCALE_NO_TF_ALIAS
namespace tf {
using DigestObserver = taskscale::DigestObserver;
}  // namespace tf
#endif
