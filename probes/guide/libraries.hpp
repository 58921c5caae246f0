// The experiments of the guide for C++ libraries other than Taskflow: claims, arms and bounds, over a class L that says how the
// library does each. README.md says what L has. One experiment is a group of claims, and a run of its own.
#pragma once
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "guide.hpp"

namespace guide {
inline string number_of(u64 n) { return std::to_string(n); }
inline std::vector<u64> worker_counts() { return cores() > 1 ? std::vector<u64>{1, cores()} : std::vector<u64>{1}; }
inline u64 total(const std::vector<u64>& slots) { return std::accumulate(slots.begin(), slots.end(), u64{0}); }
inline u64 spins(u64 n, u64 steps) {
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += spin(i, steps);
  return sum;
}

template <class L> struct Experiments {
  static void pools(Program& p) {
    Names arms;
    for (const u64 w : {1, 2, 4, 8, 16, 64}) {
      arms.push_back("executor/" + number_of(w));
      p.arm({arms.back(), w, w, double(w)}, [w](Sample& s) { L::stop(); s.start(); const u64 came = L::start(w); L::stop(); s.stop(); return came; });
    }
    p.claim({9, "An executor costs on the order of 100 us or more per thread", "cpu", {
      slope("each further thread, of the sample", "cpu_ns/sample", arms, {100e3, none}), slope("each further thread, wall time", "wall_ns/sample", arms, {100e3, none}),
      value("per thread, 64 threads", "cpu_ns", "executor/64", {100e3, none}), value("per thread, 64 threads, wall time", "wall_ns", "executor/64", {100e3, none})},
      string("tasks are threads; ") + L::pool_note});
  }
  static void reuse(Program& p) {
    const u64 tasks = 16;
    Names fresh, reused;
    for (const double us : {1., 10., 100., 1'000., 10'000.}) {
      if (p.quick() && us > 1'000) continue;
      const u64 steps = u64(us * 1'000 / double(tasks)), answer = spins(tasks, steps);
      const string end = "/" + number_of(steps * tasks);
      const double ns = double(steps * tasks) * step_ns();
      const auto run = [tasks, steps] {
        std::vector<u64> slots(tasks);
        L::tasks(cores(), tasks, [&](u64 i) { slots[i] = spin(i, steps); });
        return total(slots);
      };
      fresh.push_back("new" + end), reused.push_back("reused" + end);
      p.arm({fresh.back(), 1, answer, ns}, [run](Sample& s) { L::stop(); s.start(); const u64 sum = run(); L::stop(); s.stop(); return sum; });
      p.arm({reused.back(), 1, answer, ns}, [run](Sample& s) { L::start(cores()); s.settle(); s.start(); const u64 sum = run(); s.stop(); return sum; });
    }
    p.claim({10, "Reuse the executor: its construction can dominate short computations", "wall", {
      ratio("short runs, about 1 us of work: reused against new", "wall_ns", reused[0], fresh[0], {none, 0.5}), ratio("the same, CPU time", "cpu_ns", reused[0], fresh[0], {none, 0.5}),
      crossover("work in ns from which on reuse saves less than 5 %", "wall_ns", reused, fresh, 1, 0.95, {})},
      string("each sample is 16 tasks; ") + L::pool_note});
  }
  static void smallest(Program& p) {
    std::vector<u64> steps;
    for (u64 s = 32; s <= p.size(65'536, 2'048); s *= 2) steps.push_back(s);
    const u64 budget = p.size(4'000'000, 200'000);
    Claim claim{12, "Each task should represent at least 10 to 100 us of work", "cpu", {},
      string("the axis is the length of a task in ns; efficiency is the time of a plain loop over that of the tasks (claim 12 of Taskflow). Tasks are created within the timed part: ") + L::task_note};
    for (const u64 w : worker_counts()) {
      Names serial, tasks;
      for (const u64 s : steps) serial.push_back("loop/" + number_of(s)), tasks.push_back("tasks/" + number_of(w) + "/" + number_of(s));
      for (const int percent : {50, 90, 95}) {
        const Range claimed = percent == 90 ? Range{10e3, 100e3} : Range{};
        const string what = std::to_string(percent) + " %, " + number_of(w) + " workers";
        claim.bounds.push_back(crossover(what, "wall_ns", serial, tasks, 1 / double(w), percent / 100., claimed));
        claim.bounds.push_back(crossover(what + ", CPU time", "cpu_ns", serial, tasks, 1, percent / 100., claimed));
      }
    }
    p.claim(claim);
    for (const u64 s : steps) {
      const u64 n = std::max<u64>(budget / s, 2 * cores()), sum = spins(n, s);
      const double ns = double(s) * step_ns();
      p.arm({"loop/" + number_of(s), n, sum, ns}, [=](Sample& sample) {
        std::vector<u64> slots(n);
        sample.start();
        for (u64 i = 0; i < n; ++i) slots[i] = spin(i, s);
        sample.stop();
        return total(slots);
      });
      for (const u64 w : worker_counts()) p.arm({"tasks/" + number_of(w) + "/" + number_of(s), n, sum, ns}, [=](Sample& sample) {
        std::vector<u64> slots(n);
        sample.start();
        L::tasks(w, n, [&](u64 i) { slots[i] = spin(i, s); });
        sample.stop();
        return total(slots);
      });
    }
  }
  // Tasks before task i, by shape, as in claim 13 of Taskflow.
  template <class Before> static void each_before(const string& shape, u64 n, u64 i, Before before) {
    const u64 width = u64(std::sqrt(double(n)));
    if (shape == "chain" && i > 0) before(i - 1);
    if (shape == "tree" && i > 0) before((i - 1) / 2);
    if (shape == "wavefront" && i % width > 0) before(i - 1);
    if (shape == "wavefront" && i >= width) before(i - width);
  }
  static void empty(Program& p) {
    const u64 n = p.size(10'000, 400);
    Claim claim{13, "Empty tasks show the pure overhead of construction and scheduling, at the target worker count", "cpu", {}, string("always reported: the claim names no figure. ") + L::graph_note};
    for (const string shape : {"independent", "chain", "tree", "wavefront"}) {
      Names arms;
      for (const u64 w : worker_counts()) {
        arms.push_back("run/" + shape + "/" + number_of(w));
        p.arm({arms.back(), n, n}, [=](Sample& s) {
          std::vector<std::atomic<bool>> done(n);
          std::atomic<u64> right = 0;
          Sample unused;  // the check, outside the timed part
          const auto before = [&](u64 i, auto f) { each_before(shape, n, i, f); };
          L::graph(unused, w, n, before, [&](u64 i) {
            bool early = false;
            before(i, [&](u64 j) { early |= !done[j]; });
            right += !early, done[i] = true;
          });
          s.settle();
          L::graph(s, w, n, before, [](u64) {});
          return right.load();
        });
      }
      claim.bounds.push_back(report(shape + ", an empty task", "cpu_ns", arms)), claim.bounds.push_back(report(shape + ", an empty task, wall time", "wall_ns", arms));
    }
    p.claim(claim);
  }
  template <class Profile> static Names loops(Program& p, const string& profile, u64 n) {
    u64 sum = 0;
    for (u64 i = 0; i < n; ++i) sum += Profile::at(i, n);
    Names names;
    for (const char* policy : L::policies) {
      names.push_back(profile + "/" + policy);
      p.arm({names.back(), n, sum}, [=](Sample& s) {
        std::vector<u64> results(n);
        L::start(cores());
        s.start();
        L::loop(policy, n, [&](u64 i) { results[i] = Profile::at(i, n); });
        s.stop();
        return total(results);
      });
    }
    return names;
  }
  static void partitioners(Program& p) {
    const u64 n = p.size(65'536, 4'096);
    const std::vector<std::pair<string, Names>> all{{"uniform", loops<Uniform>(p, "uniform", n)}, {"ramp", loops<Ramp>(p, "ramp", n)},
      {"bimodal", loops<Bimodal>(p, "bimodal", n)}, {"primes", loops<Primes>(p, "primes", n)}, {"mandelbrot", loops<Mandelbrot>(p, "mandelbrot", n)}};
    const string note = string("wall time, since idle workers are what a bad partition costs; ") + L::policy_note;
    Claim c14{14, "Static partitioning is best for uniform work", "wall", {}, note}, c15{15, "Dynamic with a small chunk is best for irregular work", "wall", {}, note};
    Claim c16{16, "Guided, the default, is reasonable in most cases", "wall", {}, note + ". The default here is " + L::usual + "; reasonable is read as at most 20 % slower than the best"};
    for (const auto& [profile, names] : all) {
      const string one = profile + "/" + (profile == "uniform" ? L::even : L::small), usual = profile + "/" + L::usual;
      for (const string& other : names) {
        if (other != one) (profile == "uniform" ? c14 : c15).bounds.push_back(ratio(one + " takes no more than " + other, "wall_ns", one, other, {none, 1, true}));
        if (other != usual) c16.bounds.push_back(ratio(usual + ": at most 20 % more than " + other, "wall_ns", usual, other, {none, 1.2}));
      }
      c16.bounds.push_back(report("by policy", "wall_ns", names));
    }
    p.claim(c14), p.claim(c15), p.claim(c16);
  }
  [[gnu::noinline]] static u64 element(u64 i) { return splitmix(i); }
  static void counter(Program& p) {
    constexpr u64 block = 4096;
    const u64 n = p.size(1 << 20, 1 << 16);
    const string w = number_of(cores()), note = string("as claims 17 to 20 of Taskflow. ") + L::reduce_note;
    u64 sum = 0;
    for (u64 i = 0; i < n; ++i) sum += element(i);
    Names atomics, mutexes;
    for (const char* every : {"1", "8", "64", "4096"}) atomics.push_back("atomic/" + w + "/" + every), mutexes.push_back("mutex/" + w + "/" + every);
    p.claim({17, "An atomic add for each element is far slower than a reduction by index", "cpu", {
      ratio("all workers, loop over blocks: at least twice", "cpu_ns", atomics[0], "reduce/" + w, {2, none}), ratio("all workers, wall time", "wall_ns", atomics[0], "reduce/" + w, {2, none}),
      ratio("one worker: no contention", "cpu_ns", "atomic/1/1", "reduce/1", {})}, note});
    Claim c18{18, "... especially at 32 and more cores", "cpu", {}, note};
    if (cores() >= 32) c18.bounds.push_back(ratio("all workers: at least ten times", "cpu_ns", atomics[0], "reduce/" + w, {10, none}));
    else c18.untestable = "this process may use " + w + " cores", c18.remedy = "run on a machine with 32 cores or more";
    p.claim(c18);
    p.claim({19, "Of a counter behind a mutex, coarser updates are the remedy", "cpu", {
      ratio("every 64th element against every one", "cpu_ns", mutexes[2], mutexes[0], {none, 0.5}), ratio("the same, wall time", "wall_ns", mutexes[2], mutexes[0], {none, 0.5}),
      report("by elements an update", "cpu_ns", mutexes)}, note});
    p.claim({20, "Atomic updates that are rare are acceptable", "cpu", {
      ratio("one for 4,096 elements costs less than 5 %", "cpu_ns", atomics[3], "reduce/" + w, {none, 1.05}), report("by elements an update", "cpu_ns", atomics)}, note});
    for (const u64 t : worker_counts()) {
      for (const u64 every : {1, 8, 64, 4096}) {
        const string end = "/" + number_of(t) + "/" + number_of(every);
        const auto updated = [=](Sample& s, auto add) {
          L::start(t);
          s.start();
          L::blocks(t, n / block, [&](u64 b) {
            for (u64 from = b * block; from < (b + 1) * block; from += every) {
              u64 part = 0;
              for (u64 i = from; i < from + every; ++i) part += element(i);
              add(part);
            }
          });
          s.stop();
        };
        p.arm({"atomic" + end, n, sum, double(every)}, [=](Sample& s) { std::atomic<u64> c = 0; updated(s, [&](u64 part) { c.fetch_add(part); }); return c.load(); });
        p.arm({"mutex" + end, n, sum, double(every)}, [=](Sample& s) {
          std::mutex mutex;
          u64 c = 0;
          updated(s, [&](u64 part) { std::lock_guard lock(mutex); c += part; });
          return c;
        });
      }
      p.arm({"reduce/" + number_of(t), n, sum}, [=](Sample& s) {
        L::start(t);
        s.start();
        const u64 all = L::reduce(t, n, [](u64 begin, u64 end) { u64 part = 0; for (u64 i = begin; i < end; ++i) part += element(i); return part; });
        s.stop();
        return all;
      });
    }
  }
  static void barriers(Program& p) {
    const u64 n = p.size(8'192, 1'024), sum = spins(n, 256);
    Claim claim{28, "One barrier beats many", "wall", {}, string("wall time; a task is 256 steps, about 0.4 us. ") + L::layer_note};
    Names batches;
    for (u64 layers = 2; layers <= 1'024; layers *= 8) {
      const string end = "/" + number_of(layers);
      batches.push_back("batches" + end);
      claim.bounds.push_back(ratio(number_of(layers) + " batches to one graph", "wall_ns", "batches" + end, "whole" + end, {1, none}));
      claim.bounds.push_back(ratio(number_of(layers) + " batches to one graph, CPU time", "cpu_ns", "batches" + end, "whole" + end, {}));
      for (const bool whole : {true, false}) p.arm({(whole ? "whole" : "batches") + end, n, sum, double(layers)}, [=](Sample& s) {
        std::vector<u64> slots(n);
        L::start(cores());
        s.settle();
        L::layers(s, n / layers, layers, whole, [&](u64 i) { slots[i] = spin(i, 256); });
        return total(slots);
      });
    }
    claim.bounds.push_back(slope("what a barrier takes, of the sample", "wall_ns/sample", batches, {0, none}));
    p.claim(claim);
  }
  static inline thread_local int local_id = -1;
  template <class Get> static u64 called(Sample& s, u64 calls, Get get) {
    u64 sum = 0;
    L::tasks(1, 1, [&](u64) {
      local_id = 0;
      s.start();
      for (u64 i = 0; i < calls; ++i) { int id = get(); keep(id); sum += u64(id) + 1; }
      s.stop();
    });
    return sum;
  }
  static void worker(Program& p) {
    const u64 calls = p.size(1'000'000, 10'000), empty = p.size(10'000, 500);
    p.claim({29, "this_worker_id() is a hash lookup, not a thread_local read, and fast enough for each task", "cpu", {
      ratio("it costs what a find in an unordered_map by thread id costs", "cpu_ns", "this_worker_id", "hash_lookup", {0.5, 2}),
      ratio("it costs more than a thread-local read", "cpu_ns", "this_worker_id", "thread_local", {1.5, none}),
      ratio("fast enough: less than an empty task", "cpu_ns", "this_worker_id", "empty_task", {none, 1})},
      string("tasks are calls of ") + L::id_note});
    p.arm({"this_worker_id", calls, calls}, [=](Sample& s) { return called(s, calls, [] { return L::worker_id(); }); });
    p.arm({"hash_lookup", calls, calls}, [=](Sample& s) {
      std::unordered_map<std::thread::id, int> ids;
      return called(s, calls, [&] {
        if (ids.empty()) ids[std::this_thread::get_id()] = 0;
        const auto found = ids.find(std::this_thread::get_id());
        return found == ids.end() ? -1 : found->second;
      });
    });
    p.arm({"thread_local", calls, calls}, [=](Sample& s) { return called(s, calls, [] { return local_id; }); });
    p.arm({"empty_task", empty, empty}, [=](Sample& s) {
      std::atomic<u64> ran = 0;
      s.start();
      L::tasks(1, empty, [&](u64) { ran.fetch_add(1, std::memory_order_relaxed); });
      s.stop();
      return ran.load();
    });
  }
  static void noise(Program& p) {
    const u64 n = p.size(500, 20), sum = spins(n, 10'000);
    p.claim({35, "The wall time of a single run is noisy at the few-percent level", "wall", {
      pair("spread", "p90 of |one / other - 1|, wall time", "wall_ns", "one", "other", {0.01, 0.1}), pair("spread", "the same, CPU time", "cpu_ns", "one", "other", {})},
      "wall time of one run; a few percent is read as 1 to 10"});
    for (const char* name : {"one", "other"}) p.arm({name, n, sum}, [=](Sample& s) { return timed(s, cores(), n, 10'000, 0); });
  }
  static u64 timed(Sample& s, u64 workers, u64 n, u64 steps, u64 wait_us) {
    std::vector<u64> slots(n);
    L::start(workers);
    s.settle();
    s.start();
    L::tasks(workers, n, [&](u64 i) {
      slots[i] = spin(i, steps);
      if (wait_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
    });
    s.stop();
    return total(slots);
  }
  static void workers(Program& p) {
    const u64 all = cores(), n = p.size(64, 16) * all, steps = 50'000, sum = spins(n, steps);
    std::vector<u64> counts{1};
    for (const u64 w : {all / 2, all, all + all / 2, all * 2}) if (w > counts.back()) counts.push_back(w);
    const string best = number_of(all), twice = number_of(all * 2);
    Claim claim{36, "As many workers as hardware threads is usually best for work on the CPU; for mixed work more may help", "wall", {}, "wall time; a waiting task sleeps as long as it works, about 50 us"};
    Names busy, mixed;
    for (const u64 w : counts) {
      busy.push_back("busy/" + number_of(w)), mixed.push_back("mixed/" + number_of(w));
      p.arm({busy.back(), n, sum, double(w)}, [=](Sample& s) { return timed(s, w, n, steps, 0); });
      p.arm({mixed.back(), n, sum, double(w)}, [=](Sample& s) { return timed(s, w, n, steps, 50); });
      if (w != all) claim.bounds.push_back(ratio(best + " workers take no more than " + number_of(w), "wall_ns", "busy/" + best, busy.back(), {none, 1, true}));
    }
    claim.bounds.push_back(ratio("tasks that wait: " + twice + " workers take less than " + best, "wall_ns", "mixed/" + twice, "mixed/" + best, {none, 1}));
    claim.bounds.push_back(report("work alone, by workers", "wall_ns", busy)), claim.bounds.push_back(report("work and waiting, by workers", "wall_ns", mixed));
    p.claim(claim);
  }

  // Runs the experiment of --claim N, or all of them one after another.
  static int run(int argc, char** argv) {
    struct Group { std::vector<int> claims; const char* what; void (*make)(Program&); };
    const Group groups[] = {{{9}, "Start and stop of the threads", pools}, {{10}, "New threads for each run, or kept ones", reuse}, {{12}, "Efficiency by the length of a task", smallest},
      {{13}, "What an empty task costs, by shape and workers", empty}, {{14, 15, 16}, "Loops of five profiles by policy", partitioners}, {{17, 18, 19, 20}, "A shared counter: atomic, behind a mutex, or reduced", counter},
      {{28}, "One graph against batches", barriers}, {{29}, "What the number of the worker costs", worker}, {{35}, "The same run twice", noise}, {{36}, "Workers from one to twice the hardware threads", workers}};
    int only = 0, status = 0;
    std::vector<char*> words;
    for (int i = 0; i < argc; ++i) {
      if (string(argv[i]) != "--claim") { words.push_back(argv[i]); continue; }
      only = i + 1 < argc ? std::atoi(argv[++i]) : -1;
      const auto has = [&](const Group& g) { return std::count(g.claims.begin(), g.claims.end(), only) > 0; };
      if (std::none_of(std::begin(groups), std::end(groups), has)) { fprintf(stderr, "error: --claim wants a claim of this program; --help lists the options\n"); return 2; }
    }
    for (const Group& g : groups) {
      if (status != 0 || (only != 0 && std::count(g.claims.begin(), g.claims.end(), only) == 0)) continue;
      Program p(int(words.size()), words.data(), string(GUIDE_LIBRARY) + ". " + g.what + " (claim " + std::to_string(g.claims[0]) + ").\n--claim N chooses: 9, 10, 12, 13, 14 to 16, 17 to 20, 28, 29, 35, 36");
      g.make(p);
      status = p.run();
    }
    return status;
  }
};
}  // namespace guide
