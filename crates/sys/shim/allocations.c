/* Counts what a program asks of malloc and its relatives, for `taskscale run --counts`.
 *
 * Preloaded (LD_PRELOAD) it stands before the allocator of the program, forwards every call to it, and counts in a file that
 * the tool has laid out and maps (TASKSCALE_ALLOCATIONS names it), so that reading a count asks nothing of the program.
 * `crates/sys/src/counts/allocations.rs` reads the same layout.
 *
 * A thread counts in a slot of its own, a cache line: plain loads and stores, no lock prefix, 0.4 to 0.7 ns a call where an atomic
 * add is 13 ns. A thread that ends gives its slot to the next one. With more live threads than slots, and after a thread has given its
 * slot back, calls are counted in a common slot by atomic adds: slower, and none is lost. */
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

#define MAGIC 0x31434f4c4c415354ull /* "TSALLOC1" in little endian */

/* One cache line. Only sums over all slots mean anything. */
struct slot {
  uint64_t malloc, calloc, realloc, aligned, free, bytes;
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

static struct page *page;      /* none until the constructor has run: what the loader asks for is not counted */
static TLS struct slot *mine;  /* none until the first call of a thread */
static pthread_key_t at_exit;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_valloc)(size_t);
static void *(*next_pvalloc)(size_t);

/* dlsym may allocate before it has told where to allocate from: what it asks for meanwhile comes from here, and is not counted.
 * glibc asks for some hundred bytes at most. */
static _Alignas(16) char early[16384];
static size_t early_used;
static TLS int resolving;

static void *early_alloc(size_t size) {
  size_t need = (size + 31) & ~(size_t)15; /* 16 bytes in front hold the size */
  size_t at = __atomic_fetch_add(&early_used, need, __ATOMIC_RELAXED);
  if (need < size || at + need > sizeof early) return NULL;
  memcpy(early + at, &size, sizeof size);
  return early + at + 16;
}

static int is_early(const void *pointer) {
  return (const char *)pointer >= early && (const char *)pointer < early + sizeof early;
}

/* POSIX wants a function pointer to fit a data pointer; ISO C has no cast for it. */
static void find(void *function, const char *name) {
  void *symbol = dlsym(RTLD_NEXT, name);
  memcpy(function, &symbol, sizeof symbol);
}

static void resolve(void) {
  resolving = 1;
  find(&next_calloc, "calloc");
  find(&next_realloc, "realloc");
  find(&next_free, "free");
  find(&next_posix_memalign, "posix_memalign");
  find(&next_aligned_alloc, "aligned_alloc");
  find(&next_memalign, "memalign");
  find(&next_valloc, "valloc");
  find(&next_pvalloc, "pvalloc");
  find(&next_malloc, "malloc"); /* last: it says that all are known */
  resolving = 0;
}

/* Whether the call is to be served from `early`. */
static int is_too_early(void) {
  if (__builtin_expect(next_malloc != NULL, 1)) return 0;
  if (resolving) return 1;
  resolve();
  return next_malloc == NULL;
}

static void give_back(void *slot) {
  mine = &page->common; /* destructors that run after this one may still allocate and free */
  __atomic_store_n(&((struct slot *)slot)->taken, 0, __ATOMIC_RELEASE);
}

static struct slot *take(void) {
  struct slot *found = &page->common;
  for (uint32_t i = 0; i < page->header.slots; i++) {
    struct slot *slot = &page->slots[i];
    if (__atomic_load_n(&slot->taken, __ATOMIC_RELAXED)) continue;
    if (!__atomic_exchange_n(&slot->taken, 1, __ATOMIC_ACQUIRE)) {
      found = slot;
      break;
    }
  }
  mine = found; /* before the call below, which may allocate */
  if (found != &page->common && pthread_setspecific(at_exit, found) != 0) {
    /* Nobody would give it back; this thread keeps it, the count stays right. */
  }
  return found;
}

static void count(size_t field, uint64_t bytes) {
  if (__builtin_expect(page == NULL, 0)) return;
  struct slot *slot = mine ? mine : take();
  uint64_t *calls = (uint64_t *)((char *)slot + field);
  if (__builtin_expect(slot == &page->common, 0)) {
    __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&slot->bytes, bytes, __ATOMIC_RELAXED);
    return;
  }
  /* One writer; relaxed stores, so that the reader never sees half a number. */
  __atomic_store_n(calls, *calls + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->bytes, slot->bytes + bytes, __ATOMIC_RELAXED);
}

#define COUNT(what, bytes) count(offsetof(struct slot, what), bytes)

/* The child of a fork has the thread of its parent, and must not write where that writes. */
static void after_fork(void) {
  mine = NULL;
  if (page) __atomic_fetch_add(&page->header.attached, 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void attach(void) {
  const char *path = getenv("TASKSCALE_ALLOCATIONS");
  if (!path || is_too_early()) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct stat status;
  struct page *mapped = MAP_FAILED;
  if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct page))
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return;
  size_t room = ((size_t)status.st_size - sizeof(struct page)) / sizeof(struct slot);
  if (mapped->header.magic != MAGIC || mapped->header.slots > room || pthread_key_create(&at_exit, give_back) != 0 ||
      pthread_atfork(NULL, NULL, after_fork) != 0) {
    munmap(mapped, (size_t)status.st_size);
    return;
  }
  __atomic_fetch_add(&mapped->header.attached, 1, __ATOMIC_RELAXED);
  page = mapped;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
  if (is_too_early()) return early_alloc(size);
  void *pointer = next_malloc(size);
  if (pointer) COUNT(malloc, size);
  return pointer;
}

__attribute__((visibility("default"))) void *calloc(size_t count_of, size_t size) {
  if (is_too_early()) {
    size_t bytes;
    /* Static memory is zero, and is given out once. */
    return __builtin_mul_overflow(count_of, size, &bytes) ? NULL : early_alloc(bytes);
  }
  void *pointer = next_calloc(count_of, size);
  if (pointer) COUNT(calloc, count_of * size);
  return pointer;
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size) {
  if (is_too_early() || is_early(old)) {
    void *pointer = malloc(size);
    size_t before = 0;
    if (old) memcpy(&before, (char *)old - 16, sizeof before);
    if (pointer && old) memcpy(pointer, old, before < size ? before : size);
    return pointer;
  }
  void *pointer = next_realloc(old, size);
  if (pointer) COUNT(realloc, size);
  return pointer;
}

__attribute__((visibility("default"))) void free(void *pointer) {
  if (!pointer || is_early(pointer) || is_too_early()) return;
  next_free(pointer);
  COUNT(free, 0);
}

__attribute__((visibility("default"))) int posix_memalign(void **pointer, size_t alignment, size_t size) {
  if (is_too_early()) return ENOMEM;
  int failed = next_posix_memalign(pointer, alignment, size);
  if (!failed) COUNT(aligned, size);
  return failed;
}

#define ALIGNED(name)                                                                      \
  __attribute__((visibility("default"))) void *name(size_t alignment, size_t size) {       \
    void *pointer = is_too_early() || !next_##name ? NULL : next_##name(alignment, size);  \
    if (pointer) COUNT(aligned, size);                                                     \
    return pointer;                                                                        \
  }

#define BY_PAGES(name)                                                          \
  __attribute__((visibility("default"))) void *name(size_t size) {              \
    void *pointer = is_too_early() || !next_##name ? NULL : next_##name(size);  \
    if (pointer) COUNT(aligned, size);                                          \
    return pointer;                                                             \
  }

ALIGNED(aligned_alloc)
ALIGNED(memalign)
BY_PAGES(valloc)
BY_PAGES(pvalloc)
