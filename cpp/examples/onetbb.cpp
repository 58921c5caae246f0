// oneTBB, observed live by the C interface. `task_scheduler_observer` sees threads come into the arena and leave it, not
// tasks: here it gives each thread its worker. What a task is, the program says where it starts one.
//
//   g++ -O2 -std=c++17 onetbb.cpp $(taskscale config --cflags --libs) -ltbb -o onetbb && ./onetbb
#include <taskscale/taskscale.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>

class Observed : public tbb::task_scheduler_observer {
 public:
  Observed(tbb::task_arena& arena, std::uint32_t workers)
      : tbb::task_scheduler_observer(arena), observer_(taskscale_observer_new(TASKSCALE_ABI, "onetbb", workers, 0)) {
    observe(true);
  }
  ~Observed() override {
    observe(false);  // no thread is in the arena's calls after this
    taskscale_observer_free(observer_);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  // A slot of an arena is one thread's at a time, so that it can be the worker's number.
  void on_scheduler_entry(bool) override {
    worker() = taskscale_observer_worker(observer_, static_cast<std::uint32_t>(tbb::this_task_arena::current_thread_index()));
  }
  void on_scheduler_exit(bool) override { worker() = nullptr; }

  // The body of a task, as a span of that name.
  template <typename Body>
  static auto task(const char* name, Body body) {
    return [name, body = std::move(body)] {
      taskscale_worker* const here = worker();
      if (here) taskscale_begin(here);
      body();
      if (here) taskscale_end(here, name, std::strlen(name));
    };
  }

  std::string digest() {
    std::string text(2049, '\0');
    text.resize(taskscale_observer_write(observer_, TASKSCALE_TEXT, &text[0], text.size()));
    return text;
  }

 private:
  static taskscale_worker*& worker() {
    thread_local taskscale_worker* here = nullptr;
    return here;
  }
  taskscale_observer* observer_;
};

int main() {
  const int workers = tbb::info::default_concurrency();
  tbb::task_arena arena(workers);
  Observed observed(arena, workers);
  arena.execute([] {
    tbb::task_group group;
    for (int i = 0; i < 120; ++i)
      group.run(Observed::task("row", [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }));
    group.run(Observed::task("last row", [] { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }));
    group.wait();
  });
  std::fputs(observed.digest().c_str(), stdout);
}
