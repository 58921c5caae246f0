/* Makes a known number of allocations, for tests/counts.rs: `allocations MODE N [THREADS]`, between two lines on standard input. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long n;
static pthread_barrier_t all_alive;

/* Kept from the optimiser, which may leave out a malloc that is only freed. */
static __thread void *volatile kept;

/* Per turn: malloc 1, calloc 1, realloc 1, aligned 4, free 6; bytes 10 + 2*20 + 30 + 64 + 128 + 192 + 7. */
static void turn(void) {
  void *aligned;
  kept = malloc(10);
  kept = realloc(kept, 30);
  free(kept);
  kept = calloc(2, 20);
  free(kept);
  if (posix_memalign(&aligned, 64, 64) != 0) abort();
  free(aligned);
  kept = aligned_alloc(64, 128);
  free(kept);
  kept = memalign(64, 192);
  free(kept);
  kept = valloc(7);
  free(kept);
  free(NULL);
}

static void *work(void *wait) {
  if (wait) pthread_barrier_wait(&all_alive);
  for (long i = 0; i < n; i++) turn();
  /* None ends before all have worked: each had a slot of its own, or shared one. */
  if (wait) pthread_barrier_wait(&all_alive);
  return NULL;
}

static void threads(long count, int together) {
  pthread_t *ids = malloc(sizeof *ids * (size_t)count);
  pthread_barrier_init(&all_alive, NULL, (unsigned)count);
  for (long i = 0; i < count; i++) {
    if (pthread_create(&ids[i], NULL, work, together ? &all_alive : NULL) != 0) abort();
    if (!together) pthread_join(ids[i], NULL);
  }
  for (long i = 0; together && i < count; i++) pthread_join(ids[i], NULL);
  free(ids);
}

static void child(void) {
  pid_t pid = fork();
  if (pid < 0) abort();
  if (pid == 0) {
    for (long i = 0; i < n; i++) turn();
    _exit(0);
  }
  for (long i = 0; i < n; i++) turn();
  waitpid(pid, NULL, 0);
}

static void calls(void) {
  for (long i = 0; i < n; i++) (void)getppid();
}

int main(int argc, char **argv) {
  char line[64];
  if (argc < 3) return 2;
  n = atol(argv[2]);
  /* Standard streams allocate at first use, threads leave their stacks in a cache: a first go brings that to its end. */
  for (int go = 0; fgets(line, sizeof line, stdin); go++) {
    if (!strcmp(argv[1], "turns")) for (long i = 0; i < n; i++) turn();
    if (!strcmp(argv[1], "together")) threads(atol(argv[3]), 1);
    if (!strcmp(argv[1], "one-by-one")) threads(atol(argv[3]), 0);
    if (!strcmp(argv[1], "fork")) child();
    if (!strcmp(argv[1], "calls")) calls();
    puts("done");
    fflush(stdout);
  }
  return 0;
}
