// Two calls of taskscale.h are inlined in C; .NET needs them as functions of a library.
#include <string.h>
#include <taskscale/taskscale.h>

void calls_begin(taskscale_worker *worker) { taskscale_begin(worker); }
void calls_end(taskscale_worker *worker, const char *name) { taskscale_end(worker, name, strlen(name)); }
