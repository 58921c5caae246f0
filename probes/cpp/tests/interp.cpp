// Holds every encoding of `interp` to what the protocol says it counts, and sees that counts tell an encoding that is broken.
// It is built without Boost: what the probe says then is tested here, and the server in http.cpp.
#include <iostream>
#include <latch>

#include <unistd.h>

#include "../workloads/interp/interp.hpp"

namespace {

using namespace interp;
using taskscale::Json;

int failures = 0;

taskscale::Run asked(std::uint64_t pause, std::uint64_t depth, const char* lookup, std::uint64_t workers = 0) {
  taskscale::Run run;
  run.size = 3, run.iterations = 2, run.verify = true;
  run.params = taskscale::Object{{"pause", pause}, {"depth", depth}, {"lookup", lookup}, {"workers", workers}, {"mode", "inproc"}};
  return run;
}

// What 6 requests count.
taskscale::Object due(std::uint64_t pause, std::uint64_t depth) {
  if (depth > 0) {
    return {{"nodes", 6 * (2 * depth + 1)}, {"builtins", 0}, {"applications", 0}, {"extensions", 6 * depth}, {"deepest", depth + 1},
            {"order", 14695981039346656037u}, {"output", 12638134423997487868u}, {"suspended", 0}, {"consumed_twice", 0}};
  }
  return {{"nodes", 6 * 1804}, {"builtins", 6 * 603}, {"applications", 600}, {"extensions", 606}, {"deepest", 8},
          {"order", 2153812598003189471u}, {"output", 5476290587449551085u}, {"suspended", 6 * pause}, {"consumed_twice", 0}};
}

void hold(bool right, const std::string& what, const Json& got) {
  if (right) return;
  std::cout << "FAILED: " << what << ": " << got.text() << "\n";
  ++failures;
}

template <template <class> class Encoding>
void counts(const std::string& name) {
  for (const char* lookup : {"by_name", "prelinked"}) {
    for (const auto& [pause, depth] : {std::pair{0, 0}, {6, 0}, {100, 0}, {0, 1}, {0, 200}}) {
      const taskscale::Timing timing = counted<Encoding>(asked(pause, depth, lookup));
      const Json extra = timing.extra, wanted = due(pause, depth);
      const std::string what = name + ", " + lookup + ", pause " + std::to_string(pause) + ", depth " + std::to_string(depth);
      hold(extra.text() == wanted.text() && timing.answer == 6, what, extra);
    }
  }
}

// Workers share the requests, and together count what one does.
template <template <class> class Encoding>
void shared(const std::string& name) {
  const std::pair<std::uint64_t, taskscale::Array> shares[] = {{1, {6}}, {2, {4, 2}}, {5, {2, 2, 2, 0, 0}}};
  for (const auto& [workers, share] : shares) {
    taskscale::Timing timing = counted<Encoding>(asked(100, 0, "by_name", workers));
    const std::string what = name + ", workers " + std::to_string(workers);
    const Json all = timing.extra, requests = share;
    hold(all.find("worker_requests") != nullptr && all.find("worker_requests")->text() == requests.text(), what, all);
    const Json* walls = all.find("worker_wall_ns");
    const auto* times = walls != nullptr ? std::get_if<taskscale::Array>(&walls->value) : nullptr;
    hold(times != nullptr && times->size() == workers && (*times)[0].integer() != nullptr && *(*times)[0].integer() > 0, what, all);
    std::erase_if(timing.extra, [](const auto& one) { return one.first.starts_with("worker_"); });
    const Json counts = timing.extra, wanted = due(100, 0);
    hold(counts.text() == wanted.text() && timing.answer == 6, what, counts);
  }
}

// Gives what is wrong.
template <class Observer>
struct Wrong {
  Machine<Observer> machine;
  Value begin(const Node&) const { return std::int64_t{1}; }
  Value request(const Node& node) const { return begin(node); }
};

// Gives what is right when three requests are being made at once.
std::latch* three = nullptr;
template <class Observer>
struct Meets : Sync<Observer> {
  Value request(const Node& node) const {
    three->arrive_and_wait();
    return Sync<Observer>::request(node);
  }
};

// An encoding that is broken differs in `count`.
template <template <class> class Encoding, Flaw kFlaw>
void caught(const std::string& what, const char* count) {
  const Json extra = counted<Encoding, kFlaw>(asked(100, 0, "by_name")).extra, wanted = due(100, 0);
  hold(extra.find(count)->text() != wanted.find(count)->text(), what + " is not seen", extra);
}

// Errors are values, and the same ones in every encoding.
template <template <class> class Encoding>
std::string said(const char* text) {
  Silent silent;
  const Node tree = parsed(text, false);
  try {
    std::string output;
    write(Encoding<Silent>{{1, silent}}.request(tree), output);
    return output;
  } catch (const taskscale::Refused& refused) {
    return refused.what();
  }
}

void says(const char* text, const std::string& wanted) {
  const std::string all[] = {said<Sync>(text), said<Async>(text), said<SyncCaller>(text), said<Union>(text), said<Threads>(text)};
  for (const std::string& one : all) hold(one == wanted, text, one);
}

template <class Call>
void refused(const std::string& what, Call&& call, const std::string& words = "") {
  try {
    call();
    hold(false, what + " is not refused", what);
  } catch (const taskscale::Refused& refusal) {
    hold(std::string_view(refusal.what()).find(words) != std::string_view::npos, what, refusal.what());
  }
}

// What the probe says of its server where it has none.
void no_server_is_said() {
  declare();
  using taskscale::known;
  const Json& interp = known(taskscale::workloads, "interp", "workload");
  const Json& mode = known(taskscale::field<taskscale::Array>(interp, "params"), "mode", "parameter");
  const Json& constant = known(taskscale::field<taskscale::Array>(interp, "variants"), "constant", "variant");
  const std::string why =
      R"({"reason":"the probe was built without Boost.Beast, which serves",)"
      R"("remedy":"install Boost 1.74 or newer (Debian: apt install libboost-dev), then taskscale setup cpp"})";
  hold(mode.find("choices")->text() == R"(["inproc"])", "choices", mode);
  hold(mode.find("unavailable")->text() == R"({"http-closed":)" + why + R"(,"http-open":)" + why + "}", "words", mode);
  hold(constant.find("unavailable") != nullptr && constant.find("unavailable")->text() == why, "constant", constant);
  for (const char* variant : {"sync", "constant"}) {
    const Json message = taskscale::JsonReader::read(
        R"({"type":"run","id":1,"workload":"interp","variant":")" + std::string(variant) +
        R"(","size":1,"iterations":1,"seed":1,"params":{"mode":"http-open"}})");
    const auto asked = taskscale::request(message);
    refused(variant, [&] { asked.first(asked.second); }, "no server here: the probe was built without Boost.Beast");
  }
}

}  // namespace

int main() {
  counts<Sync>("sync");
  counts<Async>("async");
  counts<SyncCaller>("async/sync_caller");
  counts<Union>("union");
  counts<Threads>("task");

  caught<Union, Flaw::kTwoAtATime>("a list's second element begun before the first has its value", "order");
  caught<Union, Flaw::kSwallowed>("a pending value that is dropped", "consumed_twice");
  caught<Union, Flaw::kUsedTwice>("a result that is used twice", "consumed_twice");

  const std::string no_value = "a request's output is no value: ";
  says(R"(["var","x"])", no_value + "no variable x");
  says(R"(["call","nope",[["int",1]]])", no_value + "no function nope");
  says(R"(["bin","Int::%",["int",7],["int",0]])", "0");
  says(R"(["bin","Int::==",["var","x"],["call","nope",[]]])", no_value + "no variable x");
  says(R"(["if",["int",1],["int",2],["int",3]])", no_value + "a condition must be a boolean");
  says(R"(["call","List::map",[["int",1],["int",2]]])", no_value + "List::map needs a list and a lambda of one parameter");
  says(R"(["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],["var","y"]]]])", no_value + "no variable y");
  says(R"(["let","x",["int",1],["let","x",["int",2],["var","x"]]])", "2");
  says(R"(["lambda",["i"],["var","i"]])", no_value + "a lambda");

  for (const char* text : {"[]", "1", R"(["int","a"])", R"(["let","x",["int",1]])", R"(["call","f",["int",1]])", R"(["lambda",[1],["int",1]])"}) {
    refused(text, [&] { parsed(text, false); });
  }
  refused("pause 7", [] { counted<Sync>(asked(7, 0, "by_name")); }, "pause is 7");

  // Workers that do not run at once end this program by a signal.
  alarm(600);
  shared<Sync>("sync");
  shared<Async>("async");
  shared<SyncCaller>("async/sync_caller");
  shared<Union>("union");
  taskscale::Run run = asked(0, 0, "by_name", 3);
  std::latch all(3);
  three = &all, run.iterations = 1;
  hold(performed<Meets, Silent>(run).answer == 3, "three workers at once", "");
  refused("a wrong output", [&] { performed<Wrong, Silent>(run); }, "differs from byte 0 on: \"1\"");
  refused("1,001 workers", [] { counted<Sync>(asked(0, 0, "by_name", 1'001)); }, "workers is 1001; give at most 1000");
  no_server_is_said();
  return failures == 0 ? 0 : 1;
}
