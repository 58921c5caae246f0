/* The clocks that OCaml's Unix does not have, in nanoseconds. Neither allocates nor lets go of the runtime's lock. */
#include <caml/mlvalues.h>
#include <time.h>

static intnat read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (intnat)now.tv_sec * 1000000000 + now.tv_nsec;
}

CAMLprim intnat taskscale_wall_ns(value unit) { return (void)unit, read_ns(CLOCK_MONOTONIC); }

CAMLprim intnat taskscale_cpu_ns(value unit) { return (void)unit, read_ns(CLOCK_PROCESS_CPUTIME_ID); }
