// `mode` http-closed and http-open: a server, whose every GET evaluates a request. It is that of beast.hpp, where the compiler
// finds Boost.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <taskscale/probe.hpp>

#if __has_include(<boost/version.hpp>)
#include <boost/version.hpp>
#endif
#if __has_include(<boost/beast/http.hpp>) && BOOST_VERSION >= 107400 && !defined(TASKSCALE_WITHOUT_BOOST)
#define TASKSCALE_BEAST
#include "beast.hpp"
#endif

namespace interp {

// The words of `mode` that ask for a server.
inline const taskscale::Array kServed{"http-closed", "http-open"};

inline bool is_served(const taskscale::Run& run) { return run.word("mode") != "inproc"; }

// Why there is no server here; nothing where there is one.
inline std::optional<taskscale::Unavailable> no_server() {
  [[maybe_unused]] const std::string remedy = "install Boost 1.74 or newer (Debian: apt install libboost-dev)";
#if defined(TASKSCALE_BEAST)
  return std::nullopt;
#elif defined(TASKSCALE_WITHOUT_BOOST)
  return taskscale::Unavailable{"the probe was built without Boost.Beast, which serves", remedy + ", then taskscale setup cpp"};
#elif __has_include(<boost/beast/http.hpp>)
  return taskscale::Unavailable{"Boost " BOOST_LIB_VERSION " is too old", remedy};
#else
  return taskscale::Unavailable{std::string(taskscale::kToolchain) + " finds no <boost/beast/http.hpp>", remedy};
#endif
}

// What kind of request a line of the tool is; empty where it is none.
inline std::string kind(const std::string& line) {
  try {
    const taskscale::Json said = taskscale::JsonReader::read(line);
    const taskscale::Json* type = said.find("type");
    return type != nullptr && type->word() != nullptr ? *type->word() : "";
  } catch (const taskscale::Refused&) {
    return "";
  }
}

#ifdef TASKSCALE_BEAST
// Serves until the tool says `wanted`.
inline void await(Server& server, const std::string& wanted) {
  while (const auto line = server.heard()) {
    if (kind(*line) == wanted) return;
    taskscale::say(taskscale::Object{{"type", "error"}, {"message", "a server is running: say begin or stop"}});
  }
  throw taskscale::Refused("the tool is gone");
}

// Serves until the tool says stop. `answer(connection)` makes one request; `right` is the body of a response.
template <class Answer>
taskscale::Timing serve(const taskscale::Run& run, const std::string& right, Answer answer) {
  using taskscale::Object;
  Server server(right, std::move(answer));
  taskscale::say(Object{{"type", "serving"}, {"id", run.id}, {"port", server.port()}, {"server", Server::name()}});
  await(server, "begin");
  server.answered = 0;
  const taskscale::Timing timing = taskscale::timed(1, run.phases, [&](taskscale::Phases&) {
    taskscale::say(Object{{"type", "began"}, {"id", run.id}});
    await(server, "stop");
    return server.answered;
  });
  if (!server.wrong.empty()) throw taskscale::Refused(server.wrong);
  return timing;
}
#else
template <class Answer>
taskscale::Timing serve(const taskscale::Run&, const std::string&, Answer) {
  throw taskscale::Refused("no server here: " + no_server()->reason + "; " + no_server()->remedy);
}
#endif

}  // namespace interp
