// Holds every encoding of `interp` to what the protocol says it counts, and sees that counts tell an encoding that is broken.
#include <iostream>

#include "../workloads/interp/interp.hpp"

namespace {

using namespace interp;
using taskscale::Json;

int failures = 0;

taskscale::Run asked(std::uint64_t pause, std::uint64_t depth, const char* lookup) {
  taskscale::Run run;
  run.size = 3, run.iterations = 2, run.verify = true;
  run.params = taskscale::Object{{"pause", pause}, {"depth", depth}, {"lookup", lookup}};
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
void refused(const std::string& what, Call&& call) {
  try {
    call();
    hold(false, what + " is not refused", what);
  } catch (const taskscale::Refused&) {
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
  refused("pause 7", [] { counted<Sync>(asked(7, 0, "by_name")); });
  return failures == 0 ? 0 : 1;
}
