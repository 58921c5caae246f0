// Claims 14, 15 and 16: which partitioner is best for uniform work, which for irregular work, and whether the default is reasonable.
//   g++ -std=c++20 -O2 -pthread 14_partitioners.cpp -o X
#include "guide.hpp"
using namespace guide;

namespace {
template <class Profile, class Part> u64 loop(Sample& s, u64 n, Part part) {
  std::vector<u64> results(n);
  tf::Executor& executor = guide::executor();
  tf::Taskflow graph;
  graph.for_each_index(u64{0}, n, u64{1}, [&results, n](u64 i) { results[i] = Profile::at(i, n); }, part);
  s.run(executor, graph);
  return std::accumulate(results.begin(), results.end(), u64{0});
}

template <class Profile> Names arms(Program& p, const string& profile, u64 n) {
  u64 sum = 0;
  for (u64 i = 0; i < n; ++i) sum += Profile::at(i, n);
  Names names;
  const auto arm = [&](const string& name, auto part) {
    names.push_back(profile + "/" + name);
    p.arm({names.back(), n, sum}, [=](Sample& s) { return loop<Profile>(s, n, part); });
  };
  arm("static", tf::StaticPartitioner<>()), arm("static/1", tf::StaticPartitioner<>(1)), arm("static/64", tf::StaticPartitioner<>(64));
  arm("guided", tf::GuidedPartitioner<>()), arm("guided/64", tf::GuidedPartitioner<>(64));
  arm("dynamic/1", tf::DynamicPartitioner<>(1)), arm("dynamic/64", tf::DynamicPartitioner<>(64));
  arm("random", tf::RandomPartitioner<>());
  return names;
}

// `one` is in the best group: no other is surely faster.
void in_best_group(Claim& claim, const string& one, const Names& all) {
  for (const string& other : all) {
    if (other != one) claim.bounds.push_back(ratio(one + " takes no more than " + other, claim.clock + "_ns", one, other, {none, 1, true}));
  }
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "Loops of five profiles under four partitioners (claims 14, 15 and 16).");
  const u64 n = p.size(65'536, 4'096);
  const string note = "wall time, since idle workers are what a bad partition costs; on a busy machine it tells of the neighbours too. The default "
                      "chunk of guided and dynamic is 1. Workers spin while the last one works: CPU time counts that, wall time does not";
  const auto uniform = arms<Uniform>(p, "uniform", n), ramp = arms<Ramp>(p, "ramp", n), bimodal = arms<Bimodal>(p, "bimodal", n);
  const auto primes = arms<Primes>(p, "primes", n), mandelbrot = arms<Mandelbrot>(p, "mandelbrot", n);
  Claim c14{14, "Static partitioning is best for uniform work", "wall", {}, note}, c15{15, "Dynamic with a small chunk is best for irregular work", "wall", {}, note};
  Claim c16{16, "Guided, the default, is reasonable in most cases", "wall", {}, note + ". Reasonable is read as at most 20 % slower than the best"};
  in_best_group(c14, "uniform/static", uniform);
  c14.bounds.push_back(ratio("static costs less CPU time than guided", "cpu_ns", "uniform/static", "uniform/guided", {none, 1, true}));
  for (const Names& names : {ramp, bimodal, primes, mandelbrot}) in_best_group(c15, names[6], names);
  for (const Names& names : {uniform, ramp, bimodal, primes, mandelbrot}) {
    for (const string& other : names) if (other != names[3]) c16.bounds.push_back(ratio("at most 20 % more than " + other, "wall_ns", names[3], other, {none, 1.2}));
    c16.bounds.push_back(report("by partitioner", "wall_ns", names)), c16.bounds.push_back(report("by partitioner, CPU time", "cpu_ns", names));
  }
  p.claim(c14), p.claim(c15), p.claim(c16);
  return p.run();
}
