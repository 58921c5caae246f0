// What the programs of this folder share: clocks, the kernel, rounds of interleaved arms, JSON Lines. README.md has the format.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifndef GUIDE_LIBRARY  // a program of another library defines its name, and GUIDE_VERSION
#include <taskflow/taskflow.hpp>
#include <taskflow/algorithm/for_each.hpp>  // 3.9 has them not in taskflow.hpp
#include <taskflow/algorithm/reduce.hpp>
#endif

namespace guide {
using u64 = std::uint64_t;
using std::string;
using Names = std::vector<string>;

inline u64 clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return u64(t.tv_sec) * 1'000'000'000 + u64(t.tv_nsec);
}
inline u64 wall() { return clock_ns(CLOCK_MONOTONIC); }
// Brings the clock of the process up to date: Linux counts what a thread is using on another CPU at its tick only, every 4 ms
// at 250 Hz, and at once when its own clock is asked for. So a worker that still looks for tasks is not short of 2 ms.
// It allocates nothing, as opendir does (32 KB): some samples count allocations.
inline void count_running_threads() {
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  alignas(dirent64) char entries[4096];
  for (long size; (size = syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0;)
    for (long at = 0; at < size;) {
      const dirent64* const entry = reinterpret_cast<const dirent64*>(entries + at);
      // The number of a thread's clock, as pthread_getcpuclockid makes it.
      if (const long thread = std::atol(entry->d_name); thread > 0) clock_ns(clockid_t(~thread << 3 | 6));
      at += entry->d_reclen;
    }
  close(tasks);
}
inline u64 cpu_begin() { return count_running_threads(), clock_ns(CLOCK_PROCESS_CPUTIME_ID); }
// Without what this call takes, some 5 us.
inline u64 cpu_end() {
  const u64 begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  count_running_threads();
  const u64 took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - took;
}
// What all threads but the caller have used. The thread's clock is read first, so the difference is not below zero.
inline u64 others() {
  count_running_threads();
  const u64 own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
}

inline u64 splitmix(u64 s) {
  u64 z = s + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}
// Work that no compiler can fold: `steps` dependent steps. Never inlined, or steps of several calls would be interleaved.
[[gnu::noinline]] inline u64 spin(u64 i, u64 steps) {
  u64 x = splitmix(i);
  for (u64 s = 0; s < steps; ++s) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}
// Loop profiles: what element i of n does; the sum of all results is the answer.
struct Uniform { static u64 at(u64 i, u64) { return spin(i, 64); } };
struct Ramp { static u64 at(u64 i, u64 n) { return spin(i, 128 * i / n); } };
struct Bimodal { static u64 at(u64 i, u64) { return spin(i, i % 64 == 63 ? 64 * 33 : 32); } };
struct Primes {
  static u64 at(u64 i, u64) {
    const std::uint32_t n = std::uint32_t(i) + 1;
    if (n < 2) return 0;
    for (std::uint32_t d = 2; d * d <= n; ++d) if (n % d == 0) return 0;
    return 1;
  }
};
struct Mandelbrot {  // a square of n points, row by row
  static u64 at(u64 i, u64 n) {
    const u64 side = u64(std::sqrt(double(n)));
    const double re = -2 + 3. * double(i % side) / double(side), im = -1.5 + 3. * double(i / side) / double(side);
    double x = 0, y = 0;
    u64 count = 0;
    for (; count < 256 && x * x + y * y <= 4; ++count) {
      const double next = x * x - y * y + re;
      y = 2 * x * y + im, x = next;
    }
    return count;
  }
};
template <class T> inline void keep(T& value) { asm volatile("" : : "g"(&value) : "memory"); }
inline double step_ns() {  // how long a step of `spin` takes: the shortest of five
  static const double best = [] {
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
      const u64 from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      u64 x = spin(i, 200'000);
      keep(x);
      least = std::min(least, double(clock_ns(CLOCK_THREAD_CPUTIME_ID) - from) / 200'000);
    }
    return least;
  }();
  return best;
}

// CPUs that this process may use; std::thread::hardware_concurrency counts those that it may not, too.
inline std::size_t cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : std::thread::hardware_concurrency();
}
inline string line_of(const string& path) { std::ifstream in(path); string line; std::getline(in, line); return line; }
inline u64 status_bytes(const char* field) {  // "VmHWM:" is the peak of resident memory, "VmRSS:" what it is now
  std::ifstream in("/proc/self/status");
  for (string line; std::getline(in, line);) if (line.rfind(field, 0) == 0) return std::stoull(line.substr(7)) * 1024;
  return 0;
}

#ifndef GUIDE_LIBRARY
// The one place where versions of Taskflow differ: the sum of leaf(begin, end) over blocks of [0, n).
// 4.1 has reduce_by_index; 3.9 has no loop over subranges, so blocks of 4,096 are reduced there.
template <class Leaf, class Part = tf::GuidedPartitioner<>>
void reduce_blocks(tf::Taskflow& graph, std::size_t n, u64& sum, Leaf leaf, Part part = {}) {
#if TF_VERSION >= 400000
  graph.reduce_by_index(tf::IndexRange<std::size_t>(0, n, 1), sum, [leaf](tf::IndexRange<std::size_t> r, std::optional<u64> have) {
    return (have ? *have : 0) + leaf(r.begin(), r.end()); }, std::plus<u64>(), part);
#else
  auto blocks = std::make_shared<std::vector<std::size_t>>((n + 4095) / 4096);
  std::iota(blocks->begin(), blocks->end(), 0);
  graph.transform_reduce(blocks->begin(), blocks->end(), sum, std::plus<u64>(), [leaf, blocks, n](std::size_t b) {
    return leaf(b * 4096, std::min(n, (b + 1) * 4096)); }, part);
#endif
}
inline const char* const reduces_by = TF_VERSION >= 400000 ? "reduce_by_index" : "transform_reduce over blocks of 4,096";
// An executor of so many workers, kept until the process ends.
inline tf::Executor& executor(std::size_t workers = cores()) {
  static std::map<std::size_t, std::unique_ptr<tf::Executor>> all;
  auto& one = all[workers];
  if (!one) one = std::make_unique<tf::Executor>(workers);
  return *one;
}
#endif

inline string text(const string& s) {
  string out = "\"";
  for (char c : s) { if (c == '"' || c == '\\') out += '\\'; out += c; }
  return out + '"';
}
inline string number(double v) { std::ostringstream out; out.precision(12); out << v; return out.str(); }
inline string list(const Names& names) {
  string out;
  for (const string& name : names) out += (out.empty() ? "" : ",") + text(name);
  return "[" + out + "]";
}

#ifdef GUIDE_COUNTS_ALLOCATIONS
inline u64 allocations = 0, largest = 0;  // of malloc and realloc, through which all else goes; read while no worker runs
#endif

constexpr double none = NAN;  // a bound that is not there
// What a claim bounds, as JSON; README.md says what each kind means. `metric` is per task unless it ends with "/sample".
struct Range { double above = none, below = none; bool tie_holds = false; };
inline string bound(const string& kind, const string& name, const string& metric, const string& what, Range r) {
  const bool whole = metric.size() > 7 && metric.compare(metric.size() - 7, 7, "/sample") == 0;
  return "{\"kind\":" + text(kind) + ",\"name\":" + text(name) + ",\"metric\":" + text(whole ? metric.substr(0, metric.size() - 7) : metric) +
         ",\"per\":" + (whole ? "\"sample\"" : "\"task\"") + "," + what + (std::isnan(r.above) ? "" : ",\"above\":" + number(r.above)) +
         (std::isnan(r.below) ? "" : ",\"below\":" + number(r.below)) + (r.tie_holds ? ",\"tie\":\"holds\"}" : "}");
}
inline string value(const string& name, const string& metric, const string& one, Range r) { return bound("value", name, metric, "\"one\":" + text(one), r); }
inline string pair(const char* kind, const string& name, const string& metric, const string& one, const string& other, Range r) {
  return bound(kind, name, metric, "\"one\":" + text(one) + ",\"other\":" + text(other), r);
}
inline string ratio(const string& name, const string& metric, const string& one, const string& other, Range r) { return pair("ratio", name, metric, one, other, r); }
inline string difference(const string& name, const string& metric, const string& one, const string& other, Range r) { return pair("difference", name, metric, one, other, r); }
inline string slope(const string& name, const string& metric, const Names& arms, Range r) { return bound("slope", name, metric, "\"arms\":" + list(arms), r); }
inline string crossover(const string& name, const string& metric, const Names& ones, const Names& others, double scale, double level, Range r) {
  return bound("crossover", name, metric, "\"ones\":" + list(ones) + ",\"others\":" + list(others) + ",\"scale\":" + number(scale) + ",\"level\":" + number(level), r);
}
inline string report(const string& name, const string& metric, const Names& arms) { return bound("report", name, metric, "\"arms\":" + list(arms), {}); }

// A sample: start and stop may come several times; their times add up.
class Sample {
 public:
  void start() { cpu_from_ = cpu_begin(), wall_from_ = wall(); }
#ifndef GUIDE_LIBRARY
  // Times one run of a graph.
  void run(tf::Executor& executor, tf::Taskflow& graph) { start(), executor.run(graph).wait(), stop(); }
#endif
  void stop() { const u64 w = wall(), c = cpu_end(); cpu_ns += c - cpu_from_, wall_ns += w - wall_from_, others_ = others(); }
  void also(const string& name, double v) { more += "," + text(name) + ":" + number(v); }
  void also(const string& name, const string& v) { more += "," + text(name) + ":" + text(v); }
  // Waits until idle workers have ceased to spin, a tenth of a second at most: what they use belongs to no arm. Returns it.
  u64 settle() const {
    u64 last = others();
    for (int i = 0; i < 100; ++i) {
      timespec ms{0, 1'000'000};
      nanosleep(&ms, nullptr);
      const u64 now = others();
      if (now - last < 5'000) break;
      last = now;
    }
    return last > others_ ? last - others_ : 0;
  }
  u64 cpu_ns = 0, wall_ns = 0;
  string more;
 private:
  u64 cpu_from_ = 0, wall_from_ = 0, others_ = 0;
};

struct Claim {
  int number;
  string text, clock;  // "cpu", "wall" or "none": what the claim is about
  std::vector<string> bounds;
  string note = {}, untestable = {}, remedy = {};
  bool question = false;                  // the guide claims nothing of it: its bounds answer, and have no ends
};
struct Arm {
  string name;
  u64 tasks, answer;                      // what one sample does, and what it must give
  double x = none;                        // where the arm stands on the axis of a slope or crossover
  bool fresh = false;                     // each sample in a process of its own, by running this program again
  string flags = {};                      // built with these flags: another program, named by --build NAME=PATH
  std::function<u64(Sample&)> run = {};
};

inline volatile std::sig_atomic_t interrupted = 0;

class Program {
 public:
  Program(int argc, char** argv, string what, int rounds = 40) : what_(std::move(what)), rounds_(rounds) {
    std::vector<string> words(argv + 1, argv + argc);
    for (std::size_t i = 0; i < words.size(); ++i) if (words[i] == "--quick") quick_ = true, rounds_ = 2, seconds_ = 2;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const string option = words[i];
      if (option == "--help" || option == "-h") help();
      if (option == "--quick") continue;
      if (option != "--rounds" && option != "--seconds" && option != "--arm" && option != "--round" && option != "--build") bad("unknown option " + option);
      if (++i == words.size()) bad(option + " needs a value");
      if (option == "--rounds") rounds_ = u64(count(option, words[i], 1));
      if (option == "--seconds") seconds_ = count(option, words[i], 0);
      if (option == "--round") round_ = u64(count(option, words[i], 0));
      if (option == "--arm") only_ = words[i];
      if (option != "--build") continue;
      const auto at = words[i].find('=');
      if (at == string::npos || at == 0 || access(words[i].c_str() + at + 1, X_OK) != 0) bad("--build wants NAME=PATH of a program, not " + words[i]);
      builds_[words[i].substr(0, at)] = words[i].substr(at + 1);
    }
  }
  bool quick() const { return quick_; }
  u64 size(u64 full, u64 quick) const { return quick_ ? quick : full; }
  void claim(Claim c) { claims_.push_back(std::move(c)); }
  void arm(Arm a, std::function<u64(Sample&)> run) { a.run = std::move(run), arms_.push_back(std::move(a)); }

  int run() {
    if (!only_.empty()) return one();
    for (const auto& [name, path] : builds_) if (!find(name) || find(name)->flags.empty()) bad("--build: no arm " + name + " is built with flags of its own");
    head();
    mallopt(M_TRIM_THRESHOLD, 1 << 30);  // a heap that is used again: what one sample frees is there for the next
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    struct sigaction act {};
    act.sa_handler = [](int) { interrupted = 1; };
    act.sa_flags = int(SA_RESETHAND);  // a second one ends the program at once
    sigaction(SIGINT, &act, nullptr);
    const u64 from = wall();
    std::vector<Arm*> todo;
    for (Arm& a : arms_) if (a.flags.empty() || builds_.count(a.name)) todo.push_back(&a);
    for (u64 round = 0; round < rounds_; ++round) {
      for (Arm* a : todo) {
        if (interrupted) return 130;
        if (round > 0 && double(wall() - from) / 1e9 >= seconds_) return 0;
        if (a->fresh || !a->flags.empty()) again(*a, round); else { if (round == 0) sample(*a, round, false); sample(*a, round, true); }
      }
      std::reverse(todo.begin(), todo.end());
    }
    return interrupted ? 130 : 0;
  }

 private:
  [[noreturn]] void help() {
    printf("%s\n\nUsage: PROGRAM [--rounds N] [--seconds S] [--quick] [--build NAME=PATH]..\n\n"
           "  --rounds N         rounds at most (%llu); a round has a sample of each arm\n"
           "  --seconds S        begin no sample after so many seconds, the first round apart (%g)\n"
           "  --quick            smaller samples, two rounds\n"
           "  --build NAME=PATH  the program of an arm that is compiled with flags of its own\n"
           "  --arm NAME         one sample of one arm; --round N is the round that it tells\n\n"
           "Prints JSON Lines: claims, then samples. Status: 0 done, 1 a wrong answer, 2 bad options, 130 interrupted.\n",
           what_.c_str(), static_cast<unsigned long long>(rounds_), seconds_);
    std::exit(0);
  }
  [[noreturn]] void bad(const string& why) { fprintf(stderr, "error: %s; --help lists the options\n", why.c_str()); std::exit(2); }
  double count(const string& option, const string& word, double least) {
    char* end = nullptr;
    const double v = std::strtod(word.c_str(), &end);
    const bool whole = option == "--seconds" || v == std::floor(v);
    if (word.empty() || *end != 0 || !(v >= least) || v > 1e9 || !whole) bad(option + " wants a number from " + number(least) + ", not " + text(word));
    return v;
  }
  Arm* find(const string& name) { for (Arm& a : arms_) if (a.name == name) return &a; return nullptr; }
  void say(const string& line) {
    if (printf("%s\n", line.c_str()) < 0 || fflush(stdout) != 0) { perror("error: standard output cannot be written"); std::exit(1); }
  }
  void head() {
    string arms;
    for (const Arm& a : arms_) {
      arms += (arms.empty() ? "" : ",") + ("{\"name\":" + text(a.name)) + ",\"tasks\":" + std::to_string(a.tasks) + ",\"answer\":" + std::to_string(a.answer);
      if (!std::isnan(a.x)) arms += ",\"x\":" + number(a.x);
      if (a.fresh) arms += ",\"fresh_process\":true";
      if (!a.flags.empty()) arms += ",\"flags\":" + text(a.flags);
      arms += "}";
    }
#ifdef GUIDE_LIBRARY
    const string library = ",\"library\":" + text(GUIDE_LIBRARY) + ",\"version\":" + text(GUIDE_VERSION);
#else
    const string library = ",\"taskflow\":" + text(std::to_string(TF_VERSION / 100'000) + "." + std::to_string(TF_VERSION / 100 % 1'000) + "." + std::to_string(TF_VERSION % 100));
#endif
    for (const Claim& c : claims_) {
      string bounds;
      for (const string& b : c.bounds) bounds += (bounds.empty() ? "" : ",") + b;
      say("{\"claim\":" + std::to_string(c.number) + ",\"text\":" + text(c.text) + ",\"clock\":" + text(c.clock) + library +
          ",\"compiler\":" + text(__VERSION__) + ",\"cores\":" + std::to_string(cores()) + ",\"note\":" + text(c.note) + (c.question ? ",\"question\":true" : "") + ",\"arms\":[" + arms + "],\"bounds\":[" + bounds + "]}");
      if (!c.untestable.empty()) say("{\"claim\":" + std::to_string(c.number) + ",\"untestable\":" + text(c.untestable) + ",\"remedy\":" + text(c.remedy) + "}");
    }
    for (const Arm& a : arms_) if (!a.flags.empty() && !builds_.count(a.name))
      say("{\"claim\":" + std::to_string(claims_[0].number) + ",\"arm\":" + text(a.name) + ",\"untestable\":" + text("it is built with " + a.flags) +
          ",\"remedy\":" + text("compile this file with " + a.flags + " -o Y too and add --build " + a.name + "=./Y") + "}");
  }
  void sample(const Arm& a, u64 round, bool told) {
    Sample s;
    const u64 answer = a.run(s), tail = s.settle();
    if (answer != a.answer) {
      fprintf(stderr, "error: arm %s gave %llu, not %llu\n", a.name.c_str(), static_cast<unsigned long long>(answer), static_cast<unsigned long long>(a.answer));
      std::exit(1);
    }
    if (told) say("{\"claim\":" + std::to_string(claims_[0].number) + ",\"arm\":" + text(a.name) + ",\"round\":" + std::to_string(round) + ",\"tasks\":" + std::to_string(a.tasks) +
        ",\"cpu_ns\":" + std::to_string(s.cpu_ns) + ",\"wall_ns\":" + std::to_string(s.wall_ns) + ",\"answer\":" + std::to_string(answer) + ",\"tail_cpu_ns\":" + std::to_string(tail) + s.more + "}");
  }
  int one() {
    Arm* a = find(only_);
    if (!a) bad("no arm " + only_);
    sample(*a, round_, true);
    return 0;
  }
  void again(const Arm& a, u64 round) {
    const string path = a.flags.empty() ? "/proc/self/exe" : builds_[a.name];
    Names words{path, "--arm", a.name, "--round", std::to_string(round)};
    if (quick_) words.push_back("--quick");
    std::vector<char*> argv;
    for (string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, path.c_str(), nullptr, nullptr, argv.data(), environ) != 0) bad("cannot run " + path);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (interrupted) std::exit(130);
    if (status != 0) { fprintf(stderr, "error: arm %s failed in its process (%s)\n", a.name.c_str(), path.c_str()); std::exit(1); }
  }
  string what_;
  u64 rounds_, round_ = 0;
  double seconds_ = 5;
  bool quick_ = false;
  string only_;
  std::map<string, string> builds_;
  std::vector<Claim> claims_;
  std::vector<Arm> arms_;
};
}  // namespace guide

#ifdef GUIDE_COUNTS_ALLOCATIONS
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);
extern "C" void* malloc(std::size_t bytes) noexcept {
  ++guide::allocations, guide::largest = std::max<guide::u64>(guide::largest, bytes);
  return __libc_malloc(bytes);
}
extern "C" void* realloc(void* memory, std::size_t bytes) noexcept {
  ++guide::allocations;
  return __libc_realloc(memory, bytes);
}
#endif
