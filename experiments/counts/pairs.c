/* For each number on standard input, that many pairs of malloc and free, and the CPU time of them in nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *volatile kept;

static long long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void) {
  long pairs;
  while (scanf("%ld", &pairs) == 1) {
    long long begin = cpu_ns();
    for (long i = 0; i < pairs; i++) {
      kept = malloc(48);
      free(kept);
    }
    printf("%lld\n", cpu_ns() - begin);
    fflush(stdout);
  }
  return 0;
}
