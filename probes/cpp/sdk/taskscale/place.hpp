// Where in the user's own file something was thrown. C++ does not say it of an exception, so each throw is looked at on its
// way to the runtime library. That costs some microseconds a throw, so the request that failed is performed once more with it.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

// The command defines TASKSCALE_PLACES for a user's file, which it compiles with line tables.
#if defined(TASKSCALE_PLACES) && defined(__linux__)
#include <array>
#include <atomic>
#include <cstdio>

#include <dlfcn.h>
#include <execinfo.h>

namespace taskscale {
inline std::array<void*, 32> thrown_from;
inline std::atomic<int> thrown_depth{-1};  // -1: nobody asks; 0: the first throw is to come
}  // namespace taskscale

// Compilers have declarations of their own of the function that this stands before, each another.
extern "C" void taskscale_throw(void*, void*, void (*)(void*)) __asm__("__cxa_throw") __attribute__((used, weak, noreturn));
extern "C" void taskscale_throw(void* thrown, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const Throw usual = reinterpret_cast<Throw>(::dlsym(RTLD_NEXT, "__cxa_throw"));
  int first = 0;
  if (taskscale::thrown_depth.compare_exchange_strong(first, 1))
    taskscale::thrown_depth = ::backtrace(taskscale::thrown_from.data(), int(taskscale::thrown_from.size()));
  usual(thrown, type, destroy);
  std::abort();
}

namespace taskscale {
// `my_probe.cpp:12: `, or nothing. `again` performs the request that failed.
inline std::string place(const std::function<void()>& again) {
  const char* own = std::getenv("TASKSCALE_PROBE_FILE");
  if (own == nullptr) return "";
  thrown_depth = 0;
  try { again(); } catch (...) {}
  const int depth = thrown_depth.exchange(-1);
  Dl_info self{};
  if (depth <= 0 || ::dladdr(&thrown_depth, &self) == 0) return "";
  std::string command = std::string("addr2line -i -e '") + self.dli_fname + "' 2>/dev/null </dev/null";
  for (int i = 0; i < depth; ++i) {
    Dl_info info{};
    char words[64];
    if (::dladdr(thrown_from[i], &info) == 0 || info.dli_fbase != self.dli_fbase) continue;
    // The call is before the address to which it returns.
    std::snprintf(words, sizeof words, " 0x%lx", (unsigned long)((char*)thrown_from[i] - (char*)info.dli_fbase - 1));
    command += words;
  }
  std::FILE* said = ::popen(command.c_str(), "r");
  if (said == nullptr) return "";
  std::string found;
  for (char line[4096]; std::fgets(line, sizeof line, said) != nullptr;) {
    const std::string text(line);
    const std::size_t name = text.rfind('/') + 1, colon = text.find(':', name);
    if (colon == std::string::npos || text.substr(name, colon - name) != own) continue;
    if (found.empty()) found = text.substr(name, text.find_first_not_of("0123456789", colon + 1) - name) + ": ";
    std::fprintf(stderr, "thrown at %s", line);
  }
  ::pclose(said);
  return found;
}
}  // namespace taskscale

#else
namespace taskscale {
inline std::string place(const std::function<void()>&) { return ""; }
}  // namespace taskscale
#endif
