// The loop: a line in, a line out, at once. A request that cannot be done gets an error; the probe lives on.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "describe.hpp"
#include "request.hpp"

namespace taskscale {

// The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped, so that
// junk cannot fill the memory.
inline constexpr std::size_t kMaxLine = std::size_t{1} << 20;

inline Json error(const std::string& message) { return Object{{"type", "error"}, {"message", message}}; }

inline Json performed(const Json& message) {
  const auto [variant, run] = request(message);
  const std::string failed = "variant " + in_quotes(variant->name) + " failed: ";
  try {
    Timing timing = variant->perform(run);
    Object sample{{"type", "sample"}, {"id", run.id}, {"wall_ns", timing.wall_ns}, {"cpu_ns", timing.cpu_ns}, {"answer", timing.answer}};
    if (!timing.extra.empty()) sample.emplace_back("extra", timing.extra);
    return sample;
  } catch (const Refused&) {
    throw;
  } catch (const std::exception& what) {  // no thread to be had, no memory: this request's failure only
    throw Refused(failed + what.what());
  } catch (...) {
    throw Refused(failed + "something was thrown that is no std::exception");
  }
}

// The reply to a line; none to `exit`.
inline std::optional<Json> reply(std::string_view line, const std::string& name, const std::string& version, std::uint64_t workers) {
  const Json message = JsonReader::read(line);
  if (message.object() == nullptr) throw Refused("the line is not a JSON object");
  const Json* type = message.find("type");
  if (type == nullptr || type->word() == nullptr) throw Refused("the request has no field \"type\" that is a string");
  if (*type->word() == "exit") return std::nullopt;
  if (*type->word() == "run") return performed(message);
  if (*type->word() != "describe") {
    throw Refused("unknown request type " + type->text() + "; known here: describe, run, exit");
  }
  const Json& asked = field(message, "protocol");
  if (asked.integer() != nullptr && *asked.integer() == kProtocol) return description(name, version, workers);
  const std::string own = std::to_string(kProtocol);
  return Object{{"type", "error"},
                {"message", "the tool speaks protocol " + asked.text() + ", this probe of " + name + " speaks protocol " + own +
                                "; use a tool and a probe of one release"},
                {"protocol", kProtocol}};
}

// Reads a line without its end; false where input has ended.
inline bool read_line(std::string& line, bool& too_long) {
  int c = 0;
  line.clear(), too_long = false;
  while ((c = std::getc(stdin)) != EOF && c != '\n') {
    if (line.size() < kMaxLine) line += static_cast<char>(c);
    else too_long = true;
  }
  return c != EOF || !line.empty();
}

inline bool write_line(int output, std::string line) {
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(output, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Serves the declared workloads as runtime `name` until standard input ends or says `exit`. Returns the exit status: 0, or
// 1 where a pipe failed. `workers`: how many the runtime uses; 0 where that cannot be said.
inline int serve(const std::string& name, const std::string& version, std::uint64_t workers = 0) {
  const auto failed = [&] {
    std::fprintf(stderr, "probe %s: standard input or output failed: %s\n", name.c_str(), std::strerror(errno));
    return 1;
  };
  std::signal(SIGPIPE, SIG_IGN);
  // Replies go out by a descriptor of their own: whatever a workload prints must not get between them.
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || (::fcntl(STDERR_FILENO, F_GETFD) >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)) return failed();
  std::string line;
  for (bool too_long = false; read_line(line, too_long);) {
    std::optional<Json> said;
    try {
      if (too_long) throw Refused("the line is longer than " + std::to_string(kMaxLine) + " bytes");
      said = reply(line, name, version, workers);
    } catch (const Refused& refused) {
      said = error(refused.what());
    }
    if (!said) return 0;
    if (!write_line(output, said->text())) return failed();
  }
  return std::ferror(stdin) ? failed() : 0;
}

}  // namespace taskscale
