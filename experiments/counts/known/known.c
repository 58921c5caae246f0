/* For each number on standard input, that many turns of one allocation, or of one system call: `known allocations|calls`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept;

int main(int argc, char **argv) {
  int calls = argc > 1 && strcmp(argv[1], "calls") == 0;
  int nowhere = open("/dev/null", O_WRONLY);
  long turns;
  while (scanf("%ld", &turns) == 1) {
    for (long i = 0; i < turns; i++) {
      if (calls) {
        if (write(nowhere, "x", 1) != 1) abort();
      } else {
        kept = malloc(48);
        free(kept);
      }
    }
    puts("done");
    fflush(stdout);
  }
  return 0;
}
