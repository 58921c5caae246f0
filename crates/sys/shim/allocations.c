/* Counts what a program asks of malloc and its relatives, for `taskscale run --counts`.
 *
 * Preloaded (LD_PRELOAD) it stands before the allocator of the program, forwards every call to it, and counts in a slot of its
 * thread (`slots.h`, which stands before this). `crates/sys/src/counts/allocations.rs` reads the same fields. */

enum { MALLOC, CALLOC, REALLOC, ALIGNED, FREE, BYTES };

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
  return (uintptr_t)pointer - (uintptr_t)early < sizeof early;
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

/* None of these are counted: calls before the constructor has run, which are the loader's. */
__attribute__((constructor)) static void begin(void) {
  if (!is_too_early()) attach("TASKSCALE_ALLOCATIONS", 0x31434f4c4c415354ull); /* "TSALLOC1" in little endian */
}

static inline __attribute__((always_inline)) void count(int field, uint64_t bytes) { add(field, 1, BYTES, bytes); }

__attribute__((visibility("default"))) void *malloc(size_t size) {
  if (is_too_early()) return early_alloc(size);
  void *pointer = next_malloc(size);
  if (pointer) count(MALLOC, size);
  return pointer;
}

__attribute__((visibility("default"))) void *calloc(size_t count_of, size_t size) {
  if (is_too_early()) {
    size_t bytes;
    /* Static memory is zero, and is given out once. */
    return __builtin_mul_overflow(count_of, size, &bytes) ? NULL : early_alloc(bytes);
  }
  void *pointer = next_calloc(count_of, size);
  if (pointer) count(CALLOC, count_of * size);
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
  if (pointer) count(REALLOC, size);
  return pointer;
}

__attribute__((visibility("default"))) void free(void *pointer) {
  if (!pointer || is_early(pointer) || is_too_early()) return;
  count(FREE, 0);
  next_free(pointer); /* last: a jump */
}

__attribute__((visibility("default"))) int posix_memalign(void **pointer, size_t alignment, size_t size) {
  if (is_too_early()) return ENOMEM;
  int failed = next_posix_memalign(pointer, alignment, size);
  if (!failed) count(ALIGNED, size);
  return failed;
}

#define WITH_ALIGNMENT(name)                                                               \
  __attribute__((visibility("default"))) void *name(size_t alignment, size_t size) {       \
    void *pointer = is_too_early() || !next_##name ? NULL : next_##name(alignment, size);  \
    if (pointer) count(ALIGNED, size);                                                     \
    return pointer;                                                                        \
  }

#define BY_PAGES(name)                                                          \
  __attribute__((visibility("default"))) void *name(size_t size) {              \
    void *pointer = is_too_early() || !next_##name ? NULL : next_##name(size);  \
    if (pointer) count(ALIGNED, size);                                          \
    return pointer;                                                             \
  }

WITH_ALIGNMENT(aligned_alloc)
WITH_ALIGNMENT(memalign)
BY_PAGES(valloc)
BY_PAGES(pvalloc)
