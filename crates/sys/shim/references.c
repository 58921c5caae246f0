/* Counts the retains and releases of a Swift program, for `taskscale run --counts`.
 *
 * The runtime of Swift (libswiftCore) calls retain and release through pointers that it exports for such tools, from Swift 6.0 on
 * only where a flag asks for it. Preloaded (LD_PRELOAD) this stands behind those pointers, calls what they led to, and counts in
 * a slot of its thread (`slots.h`, which stands before this). `crates/sys/src/counts/references.rs` reads the same fields.
 *
 * Weak: a program without that runtime, or with one that is linked statically, has none of the pointers, and nothing is counted. */

enum { RETAINS, RELEASES };

#define OF_THE_RUNTIME __attribute__((weak, visibility("default")))
extern void *(*_swift_retain)(void *) OF_THE_RUNTIME;
extern void *(*_swift_retain_n)(void *, uint32_t) OF_THE_RUNTIME;
extern void *(*_swift_tryRetain)(void *) OF_THE_RUNTIME;
extern void (*_swift_release)(void *) OF_THE_RUNTIME;
extern void (*_swift_release_n)(void *, uint32_t) OF_THE_RUNTIME;
extern _Bool _swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly OF_THE_RUNTIME;

static void *(*next_retain)(void *);
static void *(*next_retain_n)(void *, uint32_t);
static void *(*next_try_retain)(void *);
static void (*next_release)(void *);
static void (*next_release_n)(void *, uint32_t);

/* The runtime does nothing for null and for values that are no objects, which it knows by their highest bit. */
static inline void count(int field, const void *object, uint64_t times) {
  if ((intptr_t)object > 0) add(field, times, field, 0);
}

static void *retain(void *object) {
  count(RETAINS, object, 1);
  return next_retain(object);
}

static void *retain_n(void *object, uint32_t times) {
  count(RETAINS, object, times);
  return next_retain_n(object, times);
}

/* Counts where it succeeds: the object may be about to go. */
static void *try_retain(void *object) {
  void *retained = next_try_retain(object);
  count(RETAINS, retained, 1);
  return retained;
}

/* Counts first: the call may end the object, and a thread. */
static void release(void *object) {
  count(RELEASES, object, 1);
  next_release(object);
}

static void release_n(void *object, uint32_t times) {
  count(RELEASES, object, times);
  next_release_n(object, times);
}

__attribute__((constructor)) static void begin(void) {
  if (!&_swift_retain || !&_swift_retain_n || !&_swift_release || !&_swift_release_n) return;
  attach("TASKSCALE_REFERENCES", 0x31534645525354ull); /* "TSREFS1" in little endian */
  if (!page) return;
  next_retain = _swift_retain;
  next_retain_n = _swift_retain_n;
  next_release = _swift_release;
  next_release_n = _swift_release_n;
  _swift_retain = retain;
  _swift_retain_n = retain_n;
  _swift_release = release;
  _swift_release_n = release_n;
  if (&_swift_tryRetain) {
    next_try_retain = _swift_tryRetain;
    _swift_tryRetain = try_retain;
  }
  if (&_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly)
    __atomic_store_n(&_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly, 1, __ATOMIC_RELEASE);
}
