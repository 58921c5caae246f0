// `bytes`: a stream of `size` bytes, read from its start to its end and summed up. A way is FETCH/ACCESS. Timed is from before
// the file is opened, or the request sent, until the sum is known. Answer of an iteration: the sum.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <istream>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <taskscale/probe.hpp>

#include "interp/http.hpp"

namespace bytes {

using taskscale::Run;
using taskscale::Timing;
using Byte = std::uint8_t;

// The sum modulo 256.
struct Sum8 {
  Byte sum = 0;
  void add(Byte byte) { sum = static_cast<Byte>(sum + byte); }
  std::uint64_t value() const { return sum; }
};

// FNV-1a of 64 bits.
struct Fnv {
  std::uint64_t hash = 0xcbf29ce484222325;
  void add(Byte byte) { hash = (hash ^ byte) * 0x100000001b3; }
  std::uint64_t value() const { return hash; }
};

// Either, and how many bytes were consumed.
template <class Sum>
struct Counted {
  Sum sum;
  std::uint64_t executed = 0;
  void add(Byte byte) { sum.add(byte), ++executed; }
  std::uint64_t value() const { return sum.value(); }
};

// Ways of looking at the bytes of a slice.
struct For {
  template <class Sum>
  static void take(Sum& sum, std::span<const Byte> bytes) {
    for (const Byte byte : bytes) sum.add(byte);
  }
};

struct ForEach {
  template <class Sum>
  static void take(Sum& sum, std::span<const Byte> bytes) {
    std::for_each(bytes.begin(), bytes.end(), [&](Byte byte) { sum.add(byte); });
  }
};

struct Accumulate {
  template <class Sum>
  static void take(Sum& sum, std::span<const Byte> bytes) {
    sum = std::accumulate(bytes.begin(), bytes.end(), sum, [](Sum so_far, Byte byte) {
      so_far.add(byte);
      return so_far;
    });
  }
};

// Where bytes come from.
struct Source {
  std::string place;  // a file, or ADDRESS:PORT
  std::string path;   // what is asked of a server
  std::size_t chunk;
};

[[noreturn]] inline void failed(const std::string& what) {
  throw taskscale::Refused(what + ": " + std::generic_category().message(errno));
}

inline Source source(const Run& run) {
  const bool served = run.word("source") == "http";
  const char* variable = served ? "TASKSCALE_BYTES_URL" : "TASKSCALE_BYTES";
  const char* told = std::getenv(variable);
  const std::string size = std::to_string(run.size), name = "/" + size + ".bytes";
  if (told == nullptr) throw taskscale::Refused(std::string(variable) + " is not set: `taskscale probe bytes " + size + "` says to what");
  if (!served) return {told + name, "", run.integer("chunk")};
  const std::string_view scheme = "http://", url = told;
  if (!url.starts_with(scheme)) throw taskscale::Refused(std::string(variable) + " is no http://ADDRESS:PORT: " + told);
  return {std::string(url.substr(scheme.size())), name, run.integer("chunk")};
}

// A file descriptor that is closed.
class Opened {
 public:
  explicit Opened(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) failed(path + " cannot be opened");
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(file_); }

  int number() const { return file_; }

  // Fewer bytes than there is room for, perhaps; none at the end.
  std::size_t read(std::span<Byte> into) const {
    for (;;) {
      const ssize_t many = ::read(file_, into.data(), into.size());
      if (many >= 0) return static_cast<std::size_t>(many);
      if (errno != EINTR) failed(path_ + " cannot be read");
    }
  }

  std::size_t size() const {
    struct stat about;
    if (::fstat(file_, &about) != 0) failed(path_ + " cannot be looked at");
    return static_cast<std::size_t>(about.st_size);
  }

 private:
  std::string path_;
  int file_;
};

// All of a source, chunk by chunk. `from.read(room)` gives fewer bytes than there is room for, perhaps, and none at the end.
template <class Access, class Sum, class From>
Sum chunks(const From& from, std::size_t chunk) {
  Sum sum;
  std::vector<Byte> buffer(chunk);
  while (const std::size_t many = from.read(std::span(buffer))) Access::take(sum, std::span(buffer).first(many));
  return sum;
}

// read(2) into a buffer.
template <class Access>
struct Read {
  template <class Sum>
  static Sum pass(const Source& from) {
    return chunks<Access, Sum>(Opened(from.place), from.chunk);
  }
};

// The whole file in a vector, which writes zeros first.
template <class Access>
struct ReadAll {
  template <class Sum>
  static Sum pass(const Source& from) {
    const Opened file(from.place);
    std::vector<Byte> all(file.size());
    std::size_t read = 0;
    while (const std::size_t many = read == all.size() ? 0 : file.read(std::span(all).subspan(read))) read += many;
    Sum sum;
    Access::take(sum, std::span(all).first(read));
    return sum;
  }
};

// A file in memory.
struct Mapped {
  template <class Sum>
  static Sum pass(const Source& from) {
    const Opened file(from.place);
    const std::size_t size = file.size();
    Sum sum;
    if (size == 0) return sum;  // there is no map of nothing
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (at == MAP_FAILED) failed(from.place + " cannot be mapped");
    For::take(sum, std::span(static_cast<const Byte*>(at), size));
    ::munmap(at, size);
    return sum;
  }
};

// A stream of the C library.
struct Closed {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, Closed>;

inline Stream opened(const Source& from) {
  Stream file(std::fopen(from.place.c_str(), "rbe"));
  if (!file) failed(from.place + " cannot be opened");
  return file;
}

inline void ended(const Source& from, const Stream& file) {
  if (std::ferror(file.get()) != 0) failed(from.place + " cannot be read");
}

struct Fread {
  template <class Sum>
  static Sum pass(const Source& from) {
    const Stream file = opened(from);
    Sum sum;
    std::vector<Byte> buffer(from.chunk);
    while (const std::size_t many = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
      For::take(sum, std::span(buffer).first(many));
    }
    ended(from, file);
    return sum;
  }
};

// A call of the C library for each byte, with its lock or without.
template <bool kLocked>
struct Getc {
  template <class Sum>
  static Sum pass(const Source& from) {
    const Stream file = opened(from);
    Sum sum;
    for (int byte; (byte = kLocked ? std::getc(file.get()) : ::getc_unlocked(file.get())) != EOF;) sum.add(static_cast<Byte>(byte));
    ended(from, file);
    return sum;
  }
};

template <class Sum>
Sum iterated(std::istream& from) {
  Sum sum;
  for (std::istreambuf_iterator<char> byte(from), end; byte != end; ++byte) sum.add(static_cast<Byte>(*byte));
  return sum;
}

struct Iterated {
  template <class Sum>
  static Sum pass(const Source& from) {
    std::ifstream file(from.place, std::ios::binary);
    if (!file) failed(from.place + " cannot be opened");
    return iterated<Sum>(file);
  }
};

// A coroutine that gives one byte after the other.
class Generator {
 public:
  struct promise_type {
    Byte byte = 0;
    std::exception_ptr thrown;
    Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(Byte next) {
      byte = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { thrown = std::current_exception(); }
  };

  Generator(Generator&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  Generator& operator=(Generator&&) = delete;
  ~Generator() {
    if (body_) body_.destroy();
  }

  // Goes on to the next byte; false where there is none.
  bool next() {
    body_.resume();
    if (body_.promise().thrown) std::rethrow_exception(body_.promise().thrown);
    return !body_.done();
  }
  Byte byte() const { return body_.promise().byte; }

 private:
  explicit Generator(std::coroutine_handle<promise_type> body) : body_(body) {}
  std::coroutine_handle<promise_type> body_;
};

template <class From>
Generator generated(const From& from, std::size_t chunk) {
  std::vector<Byte> buffer(chunk);
  while (const std::size_t many = from.read(std::span(buffer))) {
    for (const Byte byte : std::span(buffer).first(many)) co_yield byte;
  }
}

struct Generated {
  template <class Sum>
  static Sum pass(const Source& from) {
    const Opened file(from.place);
    Sum sum;
    for (Generator bytes = generated(file, from.chunk); bytes.next();) sum.add(bytes.byte());
    return sum;
  }
};

#ifdef TASKSCALE_BEAST
// Boost.Beast, a buffer's worth of the body after the other, and a connection for each pass.
struct Beast {
  template <class Sum>
  static Sum pass(const Source& from) {
    namespace asio = boost::asio;
    namespace http = boost::beast::http;
    const std::size_t colon = from.place.rfind(':');
    if (colon == std::string::npos) throw taskscale::Refused(from.place + " has no port");
    const auto port = static_cast<unsigned short>(std::stoul(from.place.substr(colon + 1)));
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    socket.connect({asio::ip::make_address(from.place.substr(0, colon)), port});
    http::request<http::empty_body> request(http::verb::get, from.path, 11);
    request.set(http::field::host, from.place);
    http::write(socket, request);
    boost::beast::flat_buffer read;
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    http::read_header(socket, read, parser);
    if (parser.get().result() != http::status::ok) {
      throw taskscale::Refused(from.place + from.path + " is answered by " + std::to_string(parser.get().result_int()));
    }
    Sum sum;
    std::vector<Byte> buffer(from.chunk);
    while (!parser.is_done()) {
      parser.get().body().data = buffer.data();
      parser.get().body().size = buffer.size();
      boost::system::error_code why;
      http::read(socket, read, parser, why);
      if (why && why != http::error::need_buffer) throw taskscale::Refused(from.place + from.path + ": " + why.message());
      For::take(sum, std::span(buffer).first(buffer.size() - parser.get().body().size));
    }
    return sum;
  }
};
#endif

template <class Way, class Sum>
Timing timed(const Run& run, const Source& from) {
  return run.time([&](taskscale::Phases&) { return Way::template pass<Sum>(from).value(); });
}

template <class Way, class Sum>
Timing counted(const Run& run, const Source& from) {
  std::uint64_t executed = 0;
  Timing timing = run.time([&](taskscale::Phases&) {
    const auto sum = Way::template pass<Counted<Sum>>(from);
    executed += sum.executed;
    return sum.value();
  });
  timing.extra.emplace_back("executed", executed);
  return timing;
}

template <class Way>
Timing perform(const Run& run) {
  const Source from = source(run);
  const bool sums = run.word("mode") == "sum8";
  if (run.verify) return sums ? counted<Way, Sum8>(run, from) : counted<Way, Fnv>(run, from);
  return sums ? timed<Way, Sum8>(run, from) : timed<Way, Fnv>(run, from);
}

inline void declare() {
  using taskscale::Array;
  taskscale::param("bytes", "source", "file", "where bytes come from: a file, or a server over loopback", {"file", "http"});
  taskscale::param("bytes", "mode", "sum8", "the sum modulo 256, or FNV-1a", {"sum8", "fnv"});
  taskscale::param("bytes", "chunk", std::uint64_t{65'536}, "bytes of a buffer");
  const auto way = [](const char* name, const char* note, taskscale::Perform perform) {
    taskscale::Options options{.creates_task = false, .note = note};
    options.only = {{"source", Array{"file"}}};
    taskscale::variant("bytes", name, std::move(options), std::move(perform));
  };
  way("read_all/for", "read(2) of the whole file into a vector", perform<ReadAll<For>>);
  way("read_all/for_each", "std::for_each", perform<ReadAll<ForEach>>);
  way("read_all/accumulate", "std::accumulate", perform<ReadAll<Accumulate>>);
  way("read/for", "read(2) into a buffer", perform<Read<For>>);
  way("fread/for", "fread into a buffer", perform<Fread>);
  way("mmap/for", "a mapped file", perform<Mapped>);
  way("getc/while", "getc, which locks the stream where the process has threads", perform<Getc<true>>);
  way("getc_unlocked/while", "getc_unlocked", perform<Getc<false>>);
  way("istreambuf_iterator/for", "std::ifstream, byte by byte", perform<Iterated>);
  way("generator/while", "read(2) into a buffer, a coroutine that yields each byte", perform<Generated>);
  taskscale::Options options{.creates_task = false, .note = "Boost.Beast's buffer_body; a connection for each pass"};
  options.only = {{"source", Array{"http"}}};
#ifdef TASKSCALE_BEAST
  taskscale::variant("bytes", "beast/for", std::move(options), perform<Beast>);
#else
  options.unavailable = interp::no_server();
  taskscale::variant("bytes", "beast/for", std::move(options), [](const Run&) -> Timing { throw taskscale::Refused("no Boost.Beast here"); });
#endif
}

}  // namespace bytes
