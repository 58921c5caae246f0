// The loop: a line in, a line out, at once. What cannot be done gets an error; the probe lives on.
#pragma once

#include <iostream>

#include <fcntl.h>
#include <unistd.h>

#include "place.hpp"
#include "request.hpp"

namespace taskscale {

// Where replies go. Between a request and its sample a workload may have lines of its own.
inline std::FILE* replies = nullptr;

inline int lines_said = 0;  // that went out

// Sends a line to the tool, at once. Returns whether it is out.
inline bool say(const Json& said) { return ++lines_said, std::fprintf(replies, "%s\n", said.text().c_str()) >= 0 && std::fflush(replies) == 0; }

// Performs a request.
inline Json performed(const Perform& perform, const Run& run) {
  const Timing timing = perform(run);
  Object sample{{"type", "sample"}, {"id", run.id}, {"wall_ns", timing.wall_ns}, {"cpu_ns", timing.cpu_ns}, {"answer", timing.answer}};
  if (!timing.extra.empty()) sample.emplace_back("extra", timing.extra);
  return sample;
}

// The reply to a line; none to `exit`. Whatever is thrown is this request's failure only.
inline std::optional<Json> reply(std::string_view line, const std::string& name, const std::string& version, std::uint64_t workers) {
  std::string failed = "something was thrown that is no std::exception";
  try {
    const Json message = JsonReader::read(line);
    const std::string& type = field<std::string>(message, "type");
    if (type == "exit") return std::nullopt;
    if (type == "run") {
      const auto asked = request(message);
      const int before = lines_said;
      try {
        return std::apply(performed, asked);
      } catch (const std::exception& thrown) {
        failed = thrown.what();
      } catch (...) {}
      // One that has spoken to the tool would do so again.
      if (lines_said == before) failed = place([&asked] { std::apply(performed, asked); }) + failed;
      return Object{{"type", "error"}, {"message", failed}, {"protocol", kProtocol}};
    }
    if (type != "describe") throw Refused("unknown request type " + in_quotes(type) + "; known here: describe run exit");
    const std::uint64_t asked = field<std::uint64_t>(message, "protocol");
    if (asked == kProtocol) return description(name, version, workers);
    throw Refused("the tool speaks protocol " + std::to_string(asked) + ", this probe of " + name + " speaks protocol " +
                  std::to_string(kProtocol) + "; use a tool and a probe of one release");
  } catch (const std::exception& thrown) {
    failed = thrown.what();
  } catch (...) {}
  return Object{{"type", "error"}, {"message", failed}, {"protocol", kProtocol}};
}

// Serves the declared workloads as runtime `name` until standard input ends or says `exit`. Returns the exit status: 0, or
// 1 where a pipe failed. `workers`: how many the runtime uses; 0 where that cannot be said.
inline int serve(const std::string& name, const std::string& version, std::uint64_t workers = 0) {
  // Replies go out by a descriptor of their own: whatever a workload prints must not get between them.
  replies = ::fdopen(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "w");
  if (replies == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    const std::optional<Json> said = reply(line, name, version, workers);
    if (!said || !say(*said)) return said ? 1 : 0;
  }
  return 0;
}

}  // namespace taskscale
