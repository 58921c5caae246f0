/* Does a known number of things: `known MODE N [M]`, once for each line on standard input. Each answer is `done` and what the
 * process itself says of it. The counts of crates/sys are held to it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static long n, m;
static int nowhere;
static const char *self;

/* Per turn: getppid 1, write 2. */
static void *calls(void *unused) {
  (void)unused;
  for (long i = 0; i < n; i++) {
    syscall(SYS_getppid);
    if (write(nowhere, "ab", 2) != 2 || write(nowhere, "c", 1) != 1) abort();
  }
  return NULL;
}

/* One voluntary switch a turn as a rule: nothing else makes the thread wait. */
static void *naps(void *unused) {
  struct timespec nap = {0, 1000};
  for (long i = 0; i < n; i++) nanosleep(&nap, NULL);
  return unused;
}

/* `m` threads that have all ended when this returns. */
static void threads(void *(*work)(void *)) {
  pthread_t *ids = malloc(sizeof *ids * (size_t)m);
  for (long i = 0; i < m; i++)
    if (pthread_create(&ids[i], NULL, work, NULL) != 0) abort();
  for (long i = 0; i < m; i++) pthread_join(ids[i], NULL);
  free(ids);
}

static void wait_for(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) abort();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) abort();
}

static void children(void) {
  for (long i = 0; i < m; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      calls(NULL);
      _exit(7);
    }
    wait_for(pid);
  }
}

/* This program once more, by vfork and exec. */
static void programs(void) {
  char number[24];
  snprintf(number, sizeof number, "%ld", n);
  char *words[] = {(char *)self, "once", number, NULL};
  for (long i = 0; i < m; i++) {
    pid_t pid;
    if (posix_spawn(&pid, self, NULL, NULL, words, environ) != 0) abort();
    wait_for(pid);
  }
}

/* A thread that is not the first replaces the program. */
static void *replace(void *unused) {
  (void)unused;
  char number[24];
  snprintf(number, sizeof number, "%ld", n);
  execl(self, self, "once", number, (char *)NULL);
  abort();
}

static volatile sig_atomic_t handled;
static char *guarded;
static void note(int signal) {
  (void)signal;
  handled++;
}
/* What a virtual machine does: a fault is answered, and the instruction runs again. */
static void unguard(int signal) {
  handled++;
  (void)signal;
  mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

static void *signal_the_first(void *unused) {
  for (long i = 0; i < n; i++) {
    kill(getpid(), SIGURG);
    sched_yield();
  }
  return unused;
}

/* Signals to itself, faults that are answered, and signals of another thread while this one sleeps. Returns how many of the
 * first two kinds were handled: 2n. */
static long signals(void) {
  struct sigaction noted = {.sa_handler = note}, fault = {.sa_handler = unguard}, urgent = {.sa_handler = SIG_IGN};
  noted.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &noted, NULL);
  sigaction(SIGSEGV, &fault, NULL);
  sigaction(SIGURG, &urgent, NULL);
  handled = 0;
  guarded = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (long i = 0; i < n; i++) {
    raise(SIGUSR1);
    mprotect(guarded, 4096, PROT_READ);
    *(volatile char *)guarded = 1;
  }
  munmap(guarded, 4096);
  pthread_t other;
  if (pthread_create(&other, NULL, signal_the_first, NULL) != 0) abort();
  pthread_join(other, NULL);
  return handled;
}

/* Touches `n` pages that were not there. */
static void pages(void) {
  size_t length = (size_t)n * 4096;
  char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  madvise(at, length, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < length; i += 4096) ((volatile char *)at)[i] = 1;
  munmap(at, length);
}

/* `m` children that live at the same time and touch `n` pages each, until they are let go. */
static int let_go[2];
static void resident_children(void) {
  int ready[2];
  char byte;
  if (pipe(ready) != 0 || pipe(let_go) != 0) abort();
  for (long i = 0; i < m; i++) {
    if (fork() != 0) continue;
    close(let_go[1]);
    pages();
    if (write(ready[1], "r", 1) != 1) abort();
    _exit(read(let_go[0], &byte, 1) == 0 ? 7 : 1);
  }
  for (long i = 0; i < m; i++)
    if (read(ready[0], &byte, 1) != 1) abort();
  close(ready[0]);
  close(ready[1]);
  close(let_go[0]);
}

/* Eight instructions a turn and what the loop itself takes, which is the same in every turn. */
static void spin(void) {
  for (long i = 0; i < n; i++) {
#if defined __x86_64__
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
  }
}

int main(int argc, char **argv) {
  char line[64];
  if (argc < 3) return 2;
  const char *mode = argv[1];
  n = atol(argv[2]);
  m = argc > 3 ? atol(argv[3]) : 0;
  self = argv[0];
  nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
#define IS(name) (strcmp(mode, name) == 0)
  if (IS("once")) {
    calls(NULL);
    return 7;
  }
  while (fgets(line, sizeof line, stdin)) {
    long told = 0;
    struct rusage before, after;
    /* An iteration of what is asked for by a number on the line. */
    if (line[0] >= '0' && line[0] <= '9') n = atol(line);
    getrusage(RUSAGE_SELF, &before);
    if (IS("calls")) calls(NULL);
    if (IS("threads")) threads(calls);
    if (IS("children")) children();
    if (IS("programs")) programs();
    if (IS("replace")) {
      pthread_t other;
      pthread_create(&other, NULL, replace, NULL);
      pthread_join(other, NULL);
    }
    if (IS("signals")) told = signals();
    if (IS("naps")) threads(naps);
    if (IS("pages")) pages();
    if (IS("resident_children")) resident_children();
    if (IS("spin")) spin();
    getrusage(RUSAGE_SELF, &after);
    printf("done %ld %ld %ld %ld %ld\n", told, after.ru_nvcsw - before.ru_nvcsw, after.ru_nivcsw - before.ru_nivcsw,
           after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt);
    fflush(stdout);
    if (IS("resident_children") && m > 0) {
      if (!fgets(line, sizeof line, stdin)) break;
      close(let_go[1]);
      for (long i = 0; i < m; i++) wait(NULL);
      puts("gone");
      fflush(stdout);
    }
  }
  return 0;
}
