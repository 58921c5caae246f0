// Claims 7 and 8: a task handle has 8 bytes, five million of them 40 MB; whether that fits in the L3 cache, and what a walk costs.
//   g++ -std=c++20 -O2 -pthread 07_handle_size.cpp -o X
#include "guide.hpp"
using namespace guide;

static u64 l3_bytes() {  // 0 where the machine does not say
  for (int i = 0; i < 8; ++i) {
    const string at = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    if (line_of(at + "/level") != "3") continue;
    const string size = line_of(at + "/size");
    return size.empty() ? 0 : std::stoull(size) * (size.back() == 'K' ? 1024 : size.back() == 'M' ? 1 << 20 : 1);
  }
  return 0;
}

int main(int argc, char** argv) {
  Program p(argc, argv, "The size of task handles, and walks over many (claims 7 and 8).", 10);
  const u64 n = p.size(5'000'000, 100'000), l3 = l3_bytes();
  p.claim({7, "tf::Task is a pointer of 8 bytes; 5 million handles are about 40 MB", "none", {
    value("a handle", "bytes", "sizeof", {8, 8}), value("resident memory of a handle", "bytes", "array", {7.6, 8.4})}, "bytes, no time"});
  Claim fits{8, "40 MB of handles fit in the L3 cache; walks in order are prefetched", "cpu", {
    ratio("a walk in order takes less than one at random", "cpu_ns", "in_order", "at_random", {none, 1})},
    "CPU time of one thread without an executor; the order is made outside the timed part. This part of the claim needs no large cache"};
  if (l3 >= 40'000'000) fits.bounds.push_back(value("the L3 cache", "l3_bytes/sample", "l3", {40e6, none}));
  else if (l3 == 0) fits.untestable = "the machine does not tell the size of its L3 cache", fits.remedy = "run where /sys/devices/system/cpu/cpu0/cache has a level 3";
  else fits.untestable = "the L3 cache has " + std::to_string(l3) + " bytes", fits.remedy = "run on a CPU with an L3 cache of 40 MB or more";
  p.claim(fits);

  p.arm({"sizeof", 1, 1}, [](Sample& s) { s.start(), s.stop(), s.also("bytes", sizeof(tf::Task)); return u64{1}; });
  p.arm({"array", n, n, none, true}, [n](Sample& s) {
    const u64 before = status_bytes("VmRSS:");
    s.start();
    std::vector<tf::Task> handles(n);
    s.stop();
    auto* at = handles.data();
    keep(at);
    s.also("bytes", double(status_bytes("VmRSS:") - before));
    return u64(handles.size());
  });
  p.arm({"l3", 1, 1}, [l3](Sample& s) { s.start(), s.stop(), s.also("l3_bytes", double(l3)); return u64{1}; });
  std::vector<tf::Task> handles;
  std::vector<std::uint32_t> order[2];
  const auto walk = [&, n](Sample& s, int random) {
    if (handles.empty()) handles.resize(n);
    if (order[random].empty()) {
      order[random].resize(n);
      std::iota(order[random].begin(), order[random].end(), 0);
      if (random) for (u64 i = n - 1; i > 0; --i) std::swap(order[1][i], order[1][splitmix(i) % (i + 1)]);
    }
    u64 empty = 0;
    s.start();
    for (const std::uint32_t i : order[random]) empty += handles[i].empty();
    s.stop();
    return empty;
  };
  p.arm({"in_order", n, n}, [&](Sample& s) { return walk(s, 0); });
  p.arm({"at_random", n, n}, [&](Sample& s) { return walk(s, 1); });
  return p.run();
}
