// The server of `interp`: what it answers over HTTP, and what it says to the tool. This program runs itself as a probe.
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../workloads/interp/interp.hpp"

namespace {

using namespace interp;
using taskscale::Json;
using taskscale::Object;

int failures = 0;

void same(const std::string& got, const std::string& wanted, const std::string& what) {
  if (got == wanted) return;
  std::cout << "FAILED: " << what << ": " << taskscale::in_quotes(got) << ", right is " << taskscale::in_quotes(wanted) << "\n";
  ++failures;
}

// What stands under a name, a word without its quotes; nothing where that is not there.
std::string part(const Json& said, std::string_view name) {
  const Json* found = said.find(name);
  if (found == nullptr) return "";
  return found->word() != nullptr ? *found->word() : found->text();
}

const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

std::string response(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// A connection that blocks.
class Client {
 public:
  explicit Client(std::uint64_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_port = htons(static_cast<std::uint16_t>(port)), to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) throw taskscale::Refused("nothing listens");
  }
  Client(const Client&) = delete;
  ~Client() { ::close(socket_); }

  // The server may end the connection before it has all of it.
  void say(std::string_view text) const { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

  // The next response, or what there is of it when the connection ends.
  std::string taken() {
    constexpr std::string_view kLength = "Content-Length: ";
    std::size_t head = 0, size = 0;
    for (;;) {
      if (head == 0 && (head = rest_.find("\r\n\r\n") + 4) == 3) head = 0;
      if (head > 0 && size == 0) size = head + std::stoul("0" + rest_.substr(rest_.find(kLength) + kLength.size(), 9));
      if (size > 0 && rest_.size() >= size) break;
      char bytes[4096];
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) return std::exchange(rest_, "");
      rest_.append(bytes, static_cast<std::size_t>(count));
    }
    const std::string whole = rest_.substr(0, size);
    rest_.erase(0, size);
    return whole;
  }

  std::string told(std::string_view request) {
    say(request);
    return taken();
  }

 private:
  int socket_;
  std::string rest_;
};

// This program as a probe under way.
class Probe {
 public:
  Probe() {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw taskscale::Refused("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    char name[] = "http", as[] = "as-probe";
    char* const words[] = {name, as, nullptr};
    if (::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, words, environ) != 0) throw taskscale::Refused("no process");
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]), ::close(out[1]);
    in_ = in[1], out_ = out[0];
  }
  Probe(const Probe&) = delete;

  void say(const std::string& text) const { (void)!::write(in_, text.data(), text.size()); }

  Json reply() const {
    std::string line;
    for (char c; ::read(out_, &c, 1) == 1 && c != '\n';) line += c;
    if (line.empty()) throw taskscale::Refused("the probe says nothing");
    return taskscale::JsonReader::read(line);
  }
  Json ask(const std::string& line) const {
    say(line + "\n");
    return reply();
  }

  Json run(const std::string& variant, Object params) const {
    const Json asked = Object{{"type", "run"}, {"id", 5}, {"workload", "interp"}, {"variant", variant}, {"size", 3},
                              {"iterations", 1}, {"seed", 1}, {"params", std::move(params)}};
    return ask(asked.text());
  }

  // Has it serve. Returns the port.
  std::uint64_t served(const std::string& variant, Object params = {}) const {
    params.emplace_back("mode", "http-open");
    const Json said = run(variant, std::move(params));
    same(said.text().substr(0, 38), R"({"type":"serving","id":5,"port":)" + part(said, "port") + ",", variant);
    same(part(said, "server").substr(0, 14), "Boost.Beast 1.", variant);
    return std::stoul("0" + part(said, "port"));
  }

  // Ends its input. Returns its status.
  int end() {
    ::close(in_);
    int status = -1;
    ::waitpid(process_, &status, 0);
    ::close(out_);
    return status;
  }

  pid_t process() const { return process_; }

 private:
  pid_t process_ = 0;
  int in_ = -1, out_ = -1;
};

const std::string kBegin = R"({"type":"begin","id":5})", kStop = R"({"type":"stop","id":5})";
const std::string kBegan = R"({"type":"began","id":5})", kRefused = "a server is running: say begin or stop";

void requests_are_answered_as_http_has_it() {
  Probe probe;
  const std::uint64_t port = probe.served("constant", {{"depth", 3}});
  Client client(port);
  const std::string right = response("200 OK", "1");
  same(client.told(kGet), right, "a request");
  same(client.told(kGet + kGet), right, "two in one piece, the first");
  same(client.taken(), right, "two in one piece, the second");
  for (const char* piece : {"GET / HT", "TP/1.1\r\nHost: a\r", "\n\r"}) client.say(piece);
  same(client.told("\n"), right, "in pieces");
  same(client.told("GET /a HTTP/1.1\r\n\r\n"), response("404 Not Found", "/ is all there is\n"), "another page");
  same(client.told("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), response("405 Method Not Allowed", "GET is all there is\n"),
       "another method");
  same(client.told(kGet), right, "on the same connection");
  for (const char* request : {"hello\r\n\r\n", "GET / HTTP/1.1\r\nno header\r\n\r\n"}) {
    same(Client(port).told(request), "", request);
  }
  for (const char* request : {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"}) {
    Client last(port);
    const std::string said = last.told(request);
    same(said.substr(8, 8) + said.substr(said.size() - 5), " 200 OK\r\r\n\r\n1", request);
    same(last.taken(), "", "the end");
  }
  { Client gone(port); gone.say(kGet + kGet); }
  same(client.told(kGet), right, "others are served all the same");
  same(std::to_string(probe.end()), "0", "status: the tool is gone while a server runs");
}

void every_variant_answers_the_right_bytes_and_counts_since_begin() {
  Probe probe;
  const std::string right = response("200 OK", right_output(0));
  for (const char* name : {"sync", "async", "async/sync_caller", "union", "constant"}) {
    for (const auto& [pause, verify] : {std::pair{0, false}, {6, false}, {6, true}, {100, true}}) {
      const std::string what = std::string(name) + ", pause " + std::to_string(pause) + (verify ? ", verify" : "");
      Client client(probe.served(name, {{"pause", pause}, {"verify", verify}}));
      if (!verify) same(client.told(kGet), right, what);
      same(probe.ask(kBegin).text(), kBegan, what);
      for (int i = 0; i < 3; ++i) same(client.told(kGet), right, what);
      const Json sample = probe.ask(kStop);
      same(part(sample, "type") + part(sample, "id") + part(sample, "answer"), "sample53", what);
      for (const char* time : {"cpu_ns", "wall_ns"}) same(std::to_string(std::stoul("0" + part(sample, time)) > 0), "1", time);
      std::string due;
      if (verify && name != std::string("constant")) {
        const Json counts = Object{{"nodes", 3 * 1804}, {"builtins", 3 * 603}, {"applications", 300}, {"extensions", 303},
                                   {"deepest", 8}, {"order", 2153812598003189471u}, {"output", 5476290587449551085u},
                                   {"suspended", 3 * pause}, {"consumed_twice", 0}};
        due = counts.text();
      }
      same(part(sample, "extra"), due, what);
      same(client.told(kGet), "", what + ", stopped");
    }
  }
  same(std::to_string(probe.end()), "0", "status");
}

void lines_of_the_tool_are_heard_between_requests() {
  Probe probe;
  Client client(probe.served("sync"));
#if !defined(__SANITIZE_THREAD__)
  const auto threads = std::filesystem::directory_iterator("/proc/" + std::to_string(probe.process()) + "/task");
  same(std::to_string(std::distance(begin(threads), end(threads))), "1", "threads");
#endif
  for (const char* line : {"hello", "[]", "", R"({"type":"describe","protocol":1})", R"({"type":7})"}) {
    same(part(probe.ask(line), "message"), kRefused, line);
  }
  probe.say("hello\n" + kBegin + "\n");
  same(part(probe.reply(), "message"), kRefused, "two lines at once, the first");
  same(probe.reply().text(), kBegan, "two lines at once, the second");
  same(client.told(kGet), response("200 OK", right_output(0)), "a request");
  // In two pieces, unless the probe sleeps longer than this.
  probe.say(kStop.substr(0, 9));
  ::usleep(100'000);
  same(part(probe.ask(kStop.substr(9)), "answer"), "1", "a line in two");
  same(part(probe.run("sync", {}), "answer"), "3", "the next request is one like any other");
  same(std::to_string(probe.end()), "0", "status");
}

void a_wrong_output_is_told_in_the_response_and_at_the_end() {
  Probe probe;
  Client client(probe.served("wrong"));
  probe.ask(kBegin);
  const std::string body = R"(a request's output differs from byte 0 on: "1", right is "[\")";
  same(client.told(kGet).substr(0, 38), "HTTP/1.1 500 Internal Server Error\r\nCo", "status");
  const std::string said = client.told(kGet);
  same(said.substr(said.find("\r\n\r\n") + 4).substr(0, body.size()), body, "body");
  const Json failed = probe.ask(kStop);
  same(part(failed, "type") + part(failed, "message").substr(0, body.size()), "error" + body, "stop");
  same(std::to_string(probe.end()), "0", "status");
}

// Requests whose evaluation suspends let others in: the first of these is answered when the second has come.
void a_request_that_suspends_lets_others_in() {
  Probe probe;
  const std::uint64_t port = probe.served("waits");
  Client first(port), second(port);
  probe.ask(kBegin);
  first.say(kGet);
  const std::string right = response("200 OK", "[]");
  same(second.told(kGet), right, "the second");
  same(first.taken(), right, "the first");
  same(part(probe.ask(kStop), "answer"), "2", "stop");
  same(std::to_string(probe.end()), "0", "status");
}

Detached waiting(const int& asked, int least, std::function<void()> done) {
  while (asked < least) co_await Yield();
  done();
}

// A server that ends has what still waits be done.
void a_server_leaves_nothing_behind() {
  bool ended = false;
  int asked = 0;
  {
    const Server server("", [](auto) {});
    waiting(asked, 1, [&] { ended = true; });
    ++asked;
  }
  same(ended && queue.empty() ? "" : "waits", "", "what waits");
}

template <class Observer>
struct Wrong {
  Machine<Observer> machine;
  Value begin(const Node&) const { return std::int64_t{1}; }
  Value request(const Node& node) const { return begin(node); }
};

int as_probe() {
  declare();
  encoding<Wrong>("wrong", {});
  taskscale::variant("interp", "waits", [](const taskscale::Run& run) {
    int asked = 0;
    return serve(run, "[]", [&asked](auto connection) {
      ++asked;
      waiting(asked, 2, [connection] { connection->respond(""); });
    });
  });
  return taskscale::serve("cpp", "test");
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return as_probe();
  // A server that does not answer, or does not stop, ends this program by a signal.
  alarm(300);
  try {
    requests_are_answered_as_http_has_it();
    every_variant_answers_the_right_bytes_and_counts_since_begin();
    lines_of_the_tool_are_heard_between_requests();
    a_wrong_output_is_told_in_the_response_and_at_the_end();
    a_request_that_suspends_lets_others_in();
    a_server_leaves_nothing_behind();
  } catch (const taskscale::Refused& refused) {
    std::cout << "FAILED: " << refused.what() << "\n";
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}
