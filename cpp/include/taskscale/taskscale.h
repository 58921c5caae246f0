/* taskscale.h: live digests of task runtimes, for C and C++.
 *
 * A runtime calls taskscale_begin and taskscale_end on a worker's own thread, some nanoseconds each. Anyone asks the
 * observer for the digest, at any moment and from any thread: at most 2,048 bytes of text, or JSON (contract
 * taskscale.digest/1). Memory is fixed: less than 18 KB a worker, however many tasks there are.
 *
 *     taskscale_observer *observer = taskscale_observer_new(TASKSCALE_ABI, "mypool", 4, 0);
 *     taskscale_worker *worker = taskscale_observer_worker(observer, 0);   // one for each thread
 *     taskscale_begin(worker);
 *     do_the_task();
 *     taskscale_end(worker, "do_the_task", 11);
 *     char text[2049];
 *     taskscale_observer_write(observer, TASKSCALE_TEXT, text, sizeof text);
 *     taskscale_observer_free(observer);
 *
 * While tasks take less than half a microsecond each, gap included, about one in 16 is timed and the others are only
 * counted; the digest then says so. TASKSCALE_EXACT times them all.
 *
 * Needs GCC or Clang. Link with -ltaskscale; `taskscale config --cflags --libs` prints the flags.
 */
#ifndef TASKSCALE_H
#define TASKSCALE_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__GNUC__)
#error "taskscale.h needs GCC or Clang: it uses their atomic built-ins"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this interface; a library of another number refuses it. */
#define TASKSCALE_ABI 3u
#define TASKSCALE_FRAMES 16
#define TASKSCALE_ENTRIES 75
#define TASKSCALE_OPEN 256u /* in a plan: a task that is not timed is open */

typedef struct taskscale_observer taskscale_observer;

/* A worker: one thread that runs tasks. The fields are the library's own; they stand here so that the two calls that every
 * task makes are inlined. crates/live/src/shared.rs has the same layout, checked when it is compiled. */
typedef struct taskscale_worker {
  uint64_t open[TASKSCALE_FRAMES];
  uint32_t depth;
  uint32_t parents;
  uint32_t length;
  uint32_t counter;
  uint64_t long_ticks;
  uint64_t last;
  uint64_t plan;
  uint32_t sampled;
  uint32_t reserved;
  struct {
    uint64_t begin, end, kind;
  } entries[TASKSCALE_ENTRIES];
} taskscale_worker;

enum taskscale_format {
  TASKSCALE_TEXT = 0,
  TASKSCALE_JSON = 1,
  TASKSCALE_MARKDOWN = 2,
  TASKSCALE_HTML = 3,
  TASKSCALE_PATTERN = 4 /* the name of the diagnosis alone */
};

/* Times every task, tiny ones too, at some 20 ns each. */
#define TASKSCALE_EXACT 1u

/* A new observer, or NULL where the library has another interface than this header. `source` says in one word what is
 * observed, or is NULL; `workers` is how many there are, whether they run or not, or 0 where it is not known; `flags` is 0
 * or TASKSCALE_EXACT. A worker's thread is taken to do nothing but its tasks: the CPU time that it uses is theirs. The first call
 * in a process measures the clock for 2 ms. */
taskscale_observer *taskscale_observer_new(uint32_t abi, const char *source, uint32_t workers, uint32_t flags);

/* Frees the observer with its workers. No worker may be in a call. */
void taskscale_observer_free(taskscale_observer *observer);

/* The worker of this index, made where there is none; valid until the observer is freed. */
taskscale_worker *taskscale_observer_worker(taskscale_observer *observer, uint32_t index);

/* Forgets all that was. A task that is open now is left out when it ends. */
void taskscale_observer_clear(taskscale_observer *observer);

/* Tasks since the beginning or the last clearing. */
uint64_t taskscale_observer_tasks(taskscale_observer *observer);

/* Memory that the observer holds, in bytes. */
size_t taskscale_observer_bytes(taskscale_observer *observer);

/* Writes the digest, with a zero at its end, cut to `room` bytes; gives its whole length without the zero, as snprintf
 * does. The text is at most 2,048 bytes. Tasks that are open count up to now. */
size_t taskscale_observer_write(taskscale_observer *observer, uint32_t format, char *out, size_t room);

/* What the calls below need; not for others. */
uint64_t taskscale_now(void);
void taskscale_worker_flush(taskscale_worker *worker);
uint32_t taskscale_worker_name(taskscale_worker *worker, const char *name, size_t length);
void taskscale_worker_long_gap(taskscale_worker *worker, uint64_t now);
void taskscale_worker_long_task(taskscale_worker *worker, uint64_t ticks, uint64_t kind);
void taskscale_worker_inside_untimed(taskscale_worker *worker, uint64_t now);
void taskscale_worker_unbalanced(taskscale_worker *worker, uint32_t deep);

/* A compiler that is given this file alone says nothing of functions that are not called. */
#define TASKSCALE_INLINE static inline __attribute__((unused))
#define TASKSCALE_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define TASKSCALE_STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

TASKSCALE_INLINE uint64_t taskscale_ticks(const taskscale_worker *worker) {
#if defined(__x86_64__)
  if (__builtin_expect(TASKSCALE_LOAD(worker->counter) != 0, 1)) return __builtin_ia32_rdtsc();
#else
  (void)worker;
#endif
  return taskscale_now();
}

/* Whether the task that begins is one that is not timed: then this was all. `plan` is drawn in
 * crates/live/src/plan.rs: how many of those are still to go, at bit 8 whether one of them is open, and from bit 32 on how
 * many there were to be. */
TASKSCALE_INLINE int taskscale_begin_untimed(taskscale_worker *worker) {
  uint64_t plan = TASKSCALE_LOAD(worker->plan);
  if ((uint32_t)plan - 1u >= TASKSCALE_OPEN - 1u) return 0;
  TASKSCALE_STORE(worker->plan, plan + TASKSCALE_OPEN);
  return 1;
}

/* Whether the task that ends is one that is not timed: then this was all. */
TASKSCALE_INLINE int taskscale_end_untimed(taskscale_worker *worker) {
  uint64_t plan = TASKSCALE_LOAD(worker->plan);
  if ((uint32_t)plan < TASKSCALE_OPEN) return 0;
  TASKSCALE_STORE(worker->plan, plan - TASKSCALE_OPEN - 1);
  return 1;
}

/* How many tasks are not timed behind one that ended at `now`. */
TASKSCALE_INLINE uint64_t taskscale_next_plan(const taskscale_worker *worker, uint64_t now) {
  uint64_t skip;
  if (TASKSCALE_LOAD(worker->sampled) == 0) return 0;
  now *= UINT64_C(0x9E3779B97F4A7C15);
  skip = 8 + ((now ^ now >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 60);
  return skip << 32 | skip;
}

TASKSCALE_INLINE void taskscale_begin_timed(taskscale_worker *worker, uint64_t now) {
  uint32_t depth;
  if (__builtin_expect((uint32_t)TASKSCALE_LOAD(worker->plan) >= TASKSCALE_OPEN, 0)) taskscale_worker_inside_untimed(worker, now);
  depth = TASKSCALE_LOAD(worker->depth);
  if (__builtin_expect(depth == 0, 1)) {
    if (__builtin_expect(now - TASKSCALE_LOAD(worker->last) > TASKSCALE_LOAD(worker->long_ticks), 0))
      taskscale_worker_long_gap(worker, now);
    TASKSCALE_STORE(worker->open[0], now);
  } else {
    uint32_t parents = TASKSCALE_LOAD(worker->parents);
    TASKSCALE_STORE(worker->parents, parents | 1u << ((depth - 1) & 31));
    if (depth < TASKSCALE_FRAMES) TASKSCALE_STORE(worker->open[depth], now);
  }
  TASKSCALE_STORE(worker->depth, depth + 1);
}

TASKSCALE_INLINE void taskscale_end_timed(taskscale_worker *worker, uint64_t now, const char *name, size_t length) {
  uint32_t depth = TASKSCALE_LOAD(worker->depth);
  uint32_t parents, number, used;
  uint64_t begin, kind;
  if (__builtin_expect(depth == 0 || depth > TASKSCALE_FRAMES, 0)) {
    if (depth > 0) TASKSCALE_STORE(worker->depth, depth - 1);
    taskscale_worker_unbalanced(worker, depth > 0);
    return;
  }
  /* The name may empty the buffer: it comes before the place in it. */
  number = length == 0 ? 0 : taskscale_worker_name(worker, name, length);
  depth -= 1;
  TASKSCALE_STORE(worker->depth, depth);
  begin = TASKSCALE_LOAD(worker->open[depth]);
  parents = TASKSCALE_LOAD(worker->parents);
  TASKSCALE_STORE(worker->parents, parents & ((1u << depth) - 1u));
  kind = (uint64_t)number | (uint64_t)depth << 32 | (uint64_t)(((parents >> depth) & 1u) ^ 1u) << 48;
  if (depth == 0) {
    /* Before the entry, so that whoever looks meanwhile counts none twice. */
    kind |= (TASKSCALE_LOAD(worker->plan) >> 32) << 49;
    TASKSCALE_STORE(worker->last, now);
    TASKSCALE_STORE(worker->plan, taskscale_next_plan(worker, now));
  }
  used = TASKSCALE_LOAD(worker->length);
  TASKSCALE_STORE(worker->entries[used].begin, begin);
  TASKSCALE_STORE(worker->entries[used].end, now);
  TASKSCALE_STORE(worker->entries[used].kind, kind);
  __atomic_store_n(&worker->length, used + 1, __ATOMIC_RELEASE);
  if (__builtin_expect(used + 1 >= TASKSCALE_ENTRIES, 0)) taskscale_worker_flush(worker);
  if (depth == 0 && __builtin_expect(now - begin > TASKSCALE_LOAD(worker->long_ticks), 0))
    taskscale_worker_long_task(worker, now - begin, kind);
}

/* A task began on this worker at `now`; inside the one that is open, where one is. On the worker's own thread. */
TASKSCALE_INLINE void taskscale_begin_at(taskscale_worker *worker, uint64_t now) {
  if (!taskscale_begin_untimed(worker)) taskscale_begin_timed(worker, now);
}

/* The task that began last on this worker ended at `now`. */
TASKSCALE_INLINE void taskscale_end_at(taskscale_worker *worker, uint64_t now, const char *name, size_t length) {
  if (!taskscale_end_untimed(worker)) taskscale_end_timed(worker, now, name, length);
}

/* A task begins on this worker, on whose own thread this is called. */
TASKSCALE_INLINE void taskscale_begin(taskscale_worker *worker) {
  if (!taskscale_begin_untimed(worker)) taskscale_begin_timed(worker, taskscale_ticks(worker));
}

/* The task that began last ends. `name` may be NULL with `length` 0; 48 bytes of it count. */
TASKSCALE_INLINE void taskscale_end(taskscale_worker *worker, const char *name, size_t length) {
  if (!taskscale_end_untimed(worker)) taskscale_end_timed(worker, taskscale_ticks(worker), name, length);
}

#ifdef __cplusplus
}
#endif

#endif
