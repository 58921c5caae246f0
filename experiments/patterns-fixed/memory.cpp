// What the observer holds and writes after a thousand to ten million tasks of one Taskflow program, in one process.
//
//     g++ -std=c++17 -O2 memory.cpp $(taskscale config --cflags --libs) -o memory && ./memory
#include <taskscale/taskflow.hpp>

#include <unistd.h>

#include <cstdio>
#include <sstream>

// Resident memory of this process.
static long resident_kb() {
  long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main() {
  tf::Executor executor(2);
  auto observer = executor.make_observer<taskscale::DigestObserver>();
  // One task again and again, with a name: a graph of ten million would hold more than anything that is looked for here.
  long left = 0;
  tf::Taskflow graph;
  tf::Task begin = graph.emplace([] {});
  tf::Task task = graph.emplace([&left] { return --left > 0 ? 0 : 1; }).name("step");
  tf::Task end = graph.emplace([] {});
  begin.precede(task);
  task.precede(task, end);
  std::printf("| tasks | resident kB | observer, bytes | digest, bytes of text |\n|--:|--:|--:|--:|\n");
  for (long tasks = 1000; tasks <= 10000000; tasks *= 10) {
    observer->clear();
    left = tasks - 2;
    executor.run(graph).wait();
    std::ostringstream text;
    observer->digest(text);
    const auto seen = static_cast<unsigned long>(observer->tasks());
    std::printf("| %lu | %ld | %zu | %zu |\n", seen, resident_kb(), observer->bytes(), text.str().size());
  }
  return 0;
}
