// The ways of `bytes` that can be asked directly: short reads, an end within a chunk, no byte at all, both sums.
#include <array>
#include <cstdio>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "../workloads/bytes.hpp"

namespace {

using namespace bytes;

int failures = 0;

void same(std::uint64_t got, std::uint64_t wanted, const std::string& what) {
  if (got == wanted) return;
  std::cout << "FAILED: " << what << ": " << got << ", right is " << wanted << "\n";
  ++failures;
}

std::uint64_t rotl(std::uint64_t x, int k) { return x << k | x >> (64 - k); }

// The content, by the state that PROTOCOL.md's seed gives.
std::vector<Byte> content(std::size_t size) {
  std::uint64_t s0 = 0xbdd732262feb6e95, s1 = 0x28efe333b266f103, s2 = 0x47526757130f9f52, s3 = 0x581ce1ff0e4ae394;
  std::vector<Byte> all;
  while (all.size() < size) {
    const std::uint64_t word = rotl(s1 * 5, 7) * 9, t = s1 << 17;
    for (int i = 0; i < 8; ++i) all.push_back(static_cast<Byte>(word >> 8 * i));
    s2 ^= s0, s3 ^= s1, s1 ^= s2, s0 ^= s3, s2 ^= t, s3 = rotl(s3, 45);
  }
  all.resize(size);
  return all;
}

// Gives one to seven bytes at a time.
struct Slow {
  std::span<const Byte> all;
  mutable std::size_t at = 0, calls = 0;
  std::size_t read(std::span<Byte> into) const {
    const std::size_t many = std::min({calls++ % 7 + 1, into.size(), all.size() - at});
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(at), many, into.begin());
    at += many;
    return many;
  }
};

template <class Sum>
Sum of(const std::vector<Byte>& all) {
  Sum sum;
  For::take(sum, all);
  return sum;
}

template <class Way>
void file(const char* name, const Source& from, const std::vector<Byte>& all) {
  const std::string what = std::string(name) + " of " + std::to_string(all.size());
  const auto fnv = Way::template pass<Counted<Fnv>>(from);
  same(fnv.value(), of<Fnv>(all).value(), what);
  same(fnv.executed, all.size(), what + ", bytes");
  same(Way::template pass<Sum8>(from).value(), of<Sum8>(all).value(), what + ", sum8");
}

}  // namespace

int main() {
  struct Truth {
    std::size_t size;
    std::uint64_t sum8, fnv;
  };
  for (const Truth& truth : {Truth{0, 0, 0xcbf29ce484222325}, Truth{8, 221, 0xfc3775c20640340c}, Truth{65'536, 214, 0x361ce99ee50d834f}}) {
    same(of<Sum8>(content(truth.size)).value(), truth.sum8, "sum8 of " + std::to_string(truth.size));
    same(of<Fnv>(content(truth.size)).value(), truth.fnv, "fnv of " + std::to_string(truth.size));
  }
  const char* folder = std::getenv("TMPDIR");
  const std::string place = std::string(folder == nullptr ? "/tmp" : folder) + "/taskscale-bytes-" + std::to_string(::getpid());
  for (const std::size_t size : {0, 1, 65'535, 65'536, 65'537}) {
    const std::vector<Byte> all = content(size);
    const std::uint64_t fnv = of<Fnv>(all).value();
    for (const std::size_t chunk : {1, 3, 4'096, 65'536}) {
      const std::string what = std::to_string(size) + " by " + std::to_string(chunk);
      same(chunks<For, Fnv>(Slow{all}, chunk).value(), fnv, "for " + what);
      same(chunks<ForEach, Fnv>(Slow{all}, chunk).value(), fnv, "for_each " + what);
      same(chunks<Accumulate, Fnv>(Slow{all}, chunk).value(), fnv, "accumulate " + what);
      const Slow slow{all};
      Fnv sum;
      for (Generator bytes = generated(slow, chunk); bytes.next();) sum.add(bytes.byte());
      same(sum.value(), fnv, "generator " + what);
    }
    std::istringstream stream(std::string(all.begin(), all.end()));
    same(iterated<Fnv>(stream).value(), fnv, "istreambuf_iterator " + std::to_string(size));
    if (std::FILE* out = std::fopen(place.c_str(), "wb")) {
      if (!all.empty()) std::fwrite(all.data(), 1, all.size(), out);
      std::fclose(out);
    }
    const Source from{place, "", 4'096};
    file<ReadAll<For>>("read_all/for", from, all);
    file<ReadAll<ForEach>>("read_all/for_each", from, all);
    file<ReadAll<Accumulate>>("read_all/accumulate", from, all);
    file<Read<For>>("read/for", from, all);
    file<Fread>("fread/for", from, all);
    file<Mapped>("mmap/for", from, all);
    file<Getc<true>>("getc/while", from, all);
    file<Getc<false>>("getc_unlocked/while", from, all);
    file<Iterated>("istreambuf_iterator/for", from, all);
    file<Generated>("generator/while", from, all);
  }
  ::unlink(place.c_str());
  try {
    Read<For>::pass<Fnv>(Source{place, "", 16});
    same(0, 1, "a file that is not there");
  } catch (const taskscale::Refused& why) {
    if (std::string(why.what()).find(place) == std::string::npos) same(0, 1, why.what());
  }
  return failures == 0 ? 0 : 1;
}
