/* Counts of the threads of a process, in a file that the tool has laid out and maps, so that reading a count asks nothing of the
 * program. The preloaded libraries begin with this text. `crates/sys/src/counts/page.rs` reads the same layout.
 *
 * A thread counts in a slot of its own, a cache line: plain loads and stores, no lock prefix. A thread that ends gives its slot to
 * the next one. With more live threads than slots, and after a thread has given its slot back, it counts in a common slot by
 * atomic adds: slower, and nothing is lost. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* One cache line. Only sums over all slots mean anything. */
struct slot {
  uint64_t counts[6];
  uint32_t taken; /* whether a living thread counts here */
  uint32_t unused[3];
};

struct header {
  uint64_t magic;
  uint32_t slots;    /* that follow the common one */
  uint32_t attached; /* processes in which this library counts */
  uint64_t unused[6];
};

_Static_assert(sizeof(struct slot) == 64 && sizeof(struct header) == 64, "the layout is that of the reader");

struct page {
  struct header header;
  struct slot common;
  struct slot slots[];
};

/* Initial-exec: the general model may itself allocate on the first access of a thread. */
#define TLS __thread __attribute__((tls_model("initial-exec")))

static struct page *page;     /* none until `attach` */
static TLS struct slot *mine; /* none until the first count of a thread, and where it counts in the common slot */
static TLS int in_common;
static pthread_key_t at_exit;

static void give_back(void *slot) {
  mine = NULL; /* destructors that run after this one may still count */
  in_common = 1;
  __atomic_store_n(&((struct slot *)slot)->taken, 0, __ATOMIC_RELEASE);
}

static void take(void) {
  for (uint32_t i = 0; i < page->header.slots; i++) {
    struct slot *slot = &page->slots[i];
    if (__atomic_load_n(&slot->taken, __ATOMIC_RELAXED)) continue;
    if (__atomic_exchange_n(&slot->taken, 1, __ATOMIC_ACQUIRE)) continue;
    mine = slot; /* before the call below, which may allocate */
    if (pthread_setspecific(at_exit, slot) != 0) {
      /* Nobody would give it back; this thread keeps it, the count stays right. */
    }
    return;
  }
  in_common = 1;
}

/* One writer; relaxed stores, so that the reader never sees half a number. */
static inline __attribute__((always_inline)) void add_in(struct slot *slot, int field, uint64_t amount) {
  __atomic_store_n(&slot->counts[field], slot->counts[field] + amount, __ATOMIC_RELAXED);
}

/* The first count of a thread, and those in the common slot. */
static __attribute__((noinline, cold)) void add_slowly(int field, uint64_t amount, int other, uint64_t more) {
  if (page == NULL) return;
  if (!in_common) take();
  if (mine) {
    add_in(mine, field, amount);
    add_in(mine, other, more);
  } else {
    __atomic_fetch_add(&page->common.counts[field], amount, __ATOMIC_RELAXED);
    __atomic_fetch_add(&page->common.counts[other], more, __ATOMIC_RELAXED);
  }
}

/* Adds to two fields. Before `attach` nothing is counted. */
static inline __attribute__((always_inline)) void add(int field, uint64_t amount, int other, uint64_t more) {
  struct slot *slot = mine;
  if (__builtin_expect(slot == NULL, 0)) {
    add_slowly(field, amount, other, more);
    return;
  }
  add_in(slot, field, amount);
  if (!__builtin_constant_p(more) || more != 0) add_in(slot, other, more);
}

/* The child of a fork has the thread of its parent, and must not write where that writes. */
static void after_fork(void) {
  mine = NULL;
  in_common = 0;
  if (page) __atomic_fetch_add(&page->header.attached, 1, __ATOMIC_RELAXED);
}

/* Maps the file that the variable names. Without one nothing is counted. */
static void attach(const char *variable, uint64_t magic) {
  const char *path = getenv(variable);
  if (!path) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct stat status;
  struct page *mapped = MAP_FAILED;
  if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct page))
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return;
  size_t room = ((size_t)status.st_size - sizeof(struct page)) / sizeof(struct slot);
  if (mapped->header.magic != magic || mapped->header.slots > room || pthread_key_create(&at_exit, give_back) != 0 ||
      pthread_atfork(NULL, NULL, after_fork) != 0) {
    munmap(mapped, (size_t)status.st_size);
    return;
  }
  __atomic_fetch_add(&mapped->header.attached, 1, __ATOMIC_RELAXED);
  page = mapped;
}

