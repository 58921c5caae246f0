// The C interface from a hand-written pool of threads: counts, names, clearing, unbalanced calls, and a reader meanwhile.
#include <taskscale/taskscale.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

static std::string text(taskscale_observer* observer, std::uint32_t format) {
  std::string out(taskscale_observer_write(observer, format, nullptr, 0) + 512, '\0');
  out.resize(taskscale_observer_write(observer, format, &out[0], out.size()));
  return out;
}

static bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// The inlined calls with times that are made up, a nanosecond of the monotonic clock or some tick of the counter each: tiny tasks,
// then some of twice 20 us, some with one inside. Returns the digest.
static std::string tiny(std::uint32_t flags, std::uint64_t tasks) {
  taskscale_observer* observer = taskscale_observer_new(TASKSCALE_ABI, "tiny", 1, flags);
  taskscale_worker* worker = taskscale_observer_worker(observer, 0);
  std::uint64_t now = taskscale_ticks(worker);
  std::uint64_t begun = 0;
  for (std::uint64_t task = 0; task < tasks; ++task) {
    taskscale_begin_at(worker, now += 40);
    ++begun;
    if (task % 1000 == 999) {
      taskscale_begin_at(worker, now += 5);
      ++begun;
      taskscale_end_at(worker, now += 5, "inner", 5);
    }
    taskscale_end_at(worker, now += task % 1500 == 1499 ? 200000 : 60, "tiny", 4);
    if (task % 700 == 0) CHECK(taskscale_observer_tasks(observer) == begun, std::to_string(begun));
  }
  CHECK(taskscale_observer_tasks(observer) == begun, std::to_string(begun));
  const std::string json = text(observer, TASKSCALE_JSON);
  taskscale_observer_free(observer);
  return json;
}

// The layout that shared.rs says.
static_assert(offsetof(taskscale_worker, plan) == 160 && offsetof(taskscale_worker, sampled) == 168 &&
                  offsetof(taskscale_worker, entries) == 176,
              "as in crates/live/src/shared.rs");

static void sampled() {
  for (std::uint64_t tasks = 20000; tasks < 20012; ++tasks) {
    CHECK(holds(tiny(0, tasks), "timed 1 of "), tiny(0, tasks));
    CHECK(!holds(tiny(TASKSCALE_EXACT, tasks), "timed 1 of "), "every task is timed");
  }
}

int main() {
  sampled();
  CHECK(taskscale_observer_new(TASKSCALE_ABI + 1, nullptr, 0, 0) == nullptr, "another interface is refused");
  CHECK(taskscale_observer_worker(nullptr, 0) == nullptr && taskscale_observer_tasks(nullptr) == 0, "no observer");
  taskscale_observer_free(nullptr);

  taskscale_observer* observer = taskscale_observer_new(TASKSCALE_ABI, "pool", 4, 0);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) CHECK(text(observer, TASKSCALE_TEXT).size() <= 2048, "a text of more than 2,048 bytes");
  });
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < 3; ++id) {
    threads.emplace_back([observer, id] {
      taskscale_worker* worker = taskscale_observer_worker(observer, id);
      for (int task = 0; task < 100003; ++task) {
        taskscale_begin(worker);
        if (task % 10 == 0) {  // one task inside
          taskscale_begin(worker);
          taskscale_end(worker, "inner", 5);
        }
        taskscale_end(worker, task % 2 ? "odd" : nullptr, task % 2 ? 3 : 0);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  stop = true;
  reader.join();
  const std::uint64_t all = 3 * (100003 + 10001);
  CHECK(taskscale_observer_tasks(observer) == all, std::to_string(taskscale_observer_tasks(observer)));
  const std::string json = text(observer, TASKSCALE_JSON);
  CHECK(holds(json, "\"taskscale.digest/1\"") && holds(json, "\"workers\": 4"), json);
  CHECK(holds(json, "\"inner\"") && holds(json, "\"odd\"") && holds(json, "\"live pool\""), json);
  CHECK(holds(json, "\"nested\": 30003"), json);
  CHECK(taskscale_observer_bytes(observer) <= 3 * 16384, std::to_string(taskscale_observer_bytes(observer)));

  char little[9] = "xxxxxxxx";
  const std::size_t whole = taskscale_observer_write(observer, TASKSCALE_TEXT, little, sizeof little);
  CHECK(whole > 8 && little[8] == '\0' && little[7] != 'x', little);

  taskscale_worker* worker = taskscale_observer_worker(observer, 0);
  taskscale_begin(worker);
  taskscale_observer_clear(observer);
  CHECK(taskscale_observer_tasks(observer) == 0, "cleared");
  taskscale_end(worker, nullptr, 0);
  taskscale_end(worker, nullptr, 0);  // stray
  for (int i = 0; i < 20; ++i) taskscale_begin(worker);
  for (int i = 0; i < 20; ++i) taskscale_end(worker, nullptr, 0);
  const std::string odd = text(observer, TASKSCALE_JSON);
  CHECK(taskscale_observer_tasks(observer) == 16, odd);
  CHECK(holds(odd, "end without a begin") && holds(odd, "inside 16 others") && holds(odd, "was cleared"), odd);
  taskscale_observer_free(observer);

  if (failures == 0) std::puts("pool: all checks hold");
  return failures == 0 ? 0 : 1;
}
