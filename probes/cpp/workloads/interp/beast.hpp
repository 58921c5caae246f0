// A server of Boost.Beast on one loop of Boost.Asio, which waits for the tool's lines too. The process has one thread, as one that
// has no server: with a second, std::shared_ptr counts by atomic instructions, and encodings would differ from themselves.
#pragma once

#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/version.hpp>

#include "coroutine.hpp"

namespace interp {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

class Server {
 public:
  class Connection;

  // Makes one request, and has the connection respond when its output is there.
  using Answer = std::function<void(std::shared_ptr<Connection>)>;

  // Listens on a port of 127.0.0.1 that the system chooses. `right` is the body of a response.
  Server(const std::string& right, Answer answer) : right_(right), answer_(std::move(answer)), acceptor_(listening(loop_)) {
    accept();
  }

  // Coroutines that still wait are part of others, and end by being done.
  ~Server() {
    for (; !queue.empty(); queue.pop_front()) queue.front().resume();
  }
  Server(const Server&) = delete;

  static std::string name() {
    return "Boost.Beast " + std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000) + "." +
           std::to_string(BOOST_VERSION % 100);
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  // Right responses since this was set to 0.
  std::uint64_t answered = 0;
  // What was wrong with the first wrong output.
  std::string wrong;

  // Serves until the tool says a line. Nothing where it is gone.
  std::optional<std::string> heard() {
    // What came together with an earlier line has been read.
    if (std::cin.rdbuf()->in_avail() <= 0) {
      tool_.async_wait(tool_.wait_read, [this](beast::error_code) { loop_.stop(); });
      loop_.run();
      loop_.restart();
      // Asio takes the blocking away; a line whose end is still to come is waited for.
      tool_.native_non_blocking(false);
    }
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }

 private:
  using Tcp = asio::ip::tcp;

  static Tcp::acceptor listening(asio::io_context& loop) {
    try {
      return Tcp::acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    } catch (const std::exception& failed) {
      throw taskscale::Refused(std::string("a server on 127.0.0.1 cannot be started: ") + failed.what());
    }
  }

  void accept();

  // Gives each coroutine of the queue its turn, behind what the loop has to do already.
  void give_turns() {
    for (; turns_ < queue.size(); ++turns_) {
      asio::post(loop_, [this] {
        --turns_;
        const auto next = queue.front();
        queue.pop_front();
        next.resume();
        give_turns();
      });
    }
  }

  asio::io_context loop_{1};  // of one thread
  const std::string right_;
  const Answer answer_;
  Tcp::acceptor acceptor_;
  asio::posix::stream_descriptor tool_{loop_, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)};
  std::size_t turns_ = 0;  // of the loop, given and not yet taken
};

// A connection, which lives as long as something of it is under way.
class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, Tcp::socket socket) : server_(server), socket_(std::move(socket)) {}

  // Takes requests, one after the other, until the client ends or says what is no request.
  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
      if (!failed) self->take();
    });
  }

  // Responds with the right bytes, or with what is wrong where that is not empty.
  void respond(const std::string& wrong) {
    if (wrong.empty()) {
      ++server_.answered;
      return write(http::status::ok, server_.right_);
    }
    if (server_.wrong.empty()) server_.wrong = wrong;
    write(http::status::internal_server_error, wrong);
  }

 private:
  void take() {
    if (request_.method() != http::verb::get) return write(http::status::method_not_allowed, "GET is all there is\n");
    if (request_.target() != "/") return write(http::status::not_found, "/ is all there is\n");
    server_.answer_(shared_from_this());
    server_.give_turns();
  }

  void write(http::status status, const std::string& body) {
    response_ = http::response<http::string_body>(status, request_.version(), body);
    response_.keep_alive(request_.keep_alive());
    response_.prepare_payload();
    http::async_write(socket_, response_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
      // A client that is gone, or wants to go, ends its connection.
      if (!failed && self->response_.keep_alive()) self->read();
    });
  }

  Server& server_;
  Tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

inline void Server::accept() {
  acceptor_.async_accept([this](beast::error_code failed, Tcp::socket socket) {
    if (!failed) {
      socket.set_option(Tcp::no_delay(true), failed);
      std::make_shared<Connection>(*this, std::move(socket))->read();
    }
    accept();
  });
}

}  // namespace interp
