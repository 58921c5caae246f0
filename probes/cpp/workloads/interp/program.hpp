// The programs: the one that all languages share, and nested lets of any depth.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>

#include "value.hpp"

namespace interp {

// `probes/interp/program.json`, which lies outside the sources that the `taskscale` binary has.
inline constexpr std::string_view kProgram =
    R"(["let","range",["call","Int::range",[["int",1],["int",100]]],)"
    R"(["call","List::map",[["var","range"],["lambda",["i"],)"
    R"(["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],)"
    R"(["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],)"
    R"(["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],)"
    R"(["call","Int::toString",[["var","i"]]]]]]]]]])";

// How a call names its function.
struct Callee {
  std::string name;
  std::optional<Function> linked = {};  // where it was looked up after parsing
};

// A node of the tree, and the nodes below it: the value and the body of a let; condition, then, else; the arguments of a call
// (`bin` has two); the body of a lambda.
struct Node {
  enum Kind { kLiteral, kVariable, kLambda, kLet, kIf, kBin, kCall } kind;
  Value literal = {};
  std::string name = {};  // of a variable, of what a let binds
  Callee callee = {};
  std::vector<std::string> params = {};
  std::vector<Node> below = {};
};

// Reads a node.
inline Node node(const taskscale::Json& json, bool linked) {
  const auto wrong = [&] { return taskscale::Refused("no node of a program: " + json.text()); };
  const auto* parts = std::get_if<taskscale::Array>(&json.value);
  if (parts == nullptr || parts->empty() || parts->front().word() == nullptr) throw wrong();
  const std::string& kind = *parts->front().word();
  const auto is = [&](std::string_view wanted, std::size_t length) { return kind == wanted && parts->size() == length + 1; };
  const auto word = [&](const taskscale::Json& one) -> const std::string& {
    if (one.word() == nullptr) throw wrong();
    return *one.word();
  };
  const auto items = [&](const taskscale::Json& one) -> const taskscale::Array& {
    if (!std::holds_alternative<taskscale::Array>(one.value)) throw wrong();
    return std::get<taskscale::Array>(one.value);
  };
  const auto nodes = [&](std::size_t first) {
    std::vector<Node> below;
    for (std::size_t i = first; i < parts->size(); ++i) below.push_back(node((*parts)[i], linked));
    return below;
  };
  const auto callee = [&] {
    Callee made{word((*parts)[1])};
    if (const auto known = functions.find(made.name); linked && known != functions.end()) made.linked = known->second;
    return made;
  };
  if (is("int", 1) && (*parts)[1].integer() != nullptr) {
    return {.kind = Node::kLiteral, .literal = static_cast<std::int64_t>(*(*parts)[1].integer())};
  }
  if (is("str", 1)) return {.kind = Node::kLiteral, .literal = word((*parts)[1])};
  if (is("var", 1)) return {.kind = Node::kVariable, .name = word((*parts)[1])};
  if (is("let", 3)) return {.kind = Node::kLet, .name = word((*parts)[1]), .below = nodes(2)};
  if (is("if", 3)) return {.kind = Node::kIf, .below = nodes(1)};
  if (is("bin", 3)) return {.kind = Node::kBin, .callee = callee(), .below = nodes(2)};
  if (is("call", 2)) {
    Node made{.kind = Node::kCall, .callee = callee()};
    for (const taskscale::Json& one : items((*parts)[2])) made.below.push_back(node(one, linked));
    return made;
  }
  if (is("lambda", 2)) {
    Node made{.kind = Node::kLambda, .below = nodes(2)};
    for (const taskscale::Json& one : items((*parts)[1])) made.params.push_back(word(one));
    return made;
  }
  throw wrong();
}

// Reads a program in JSON.
inline Node parsed(std::string_view text, bool linked) { return node(taskscale::JsonReader::read(text), linked); }

// `let x0 = 1 in let x1 = x0 in .. x_last`, made from the inside out.
inline Node nested(std::uint64_t depth) {
  const auto variable = [](std::uint64_t i) { return Node{.kind = Node::kVariable, .name = "x" + std::to_string(i)}; };
  Node body = variable(depth - 1);
  for (std::uint64_t i = depth; i-- > 0;) {
    Node made{.kind = Node::kLet, .name = "x" + std::to_string(i)};
    made.below.reserve(2);
    made.below.push_back(i == 0 ? Node{.kind = Node::kLiteral, .literal = std::int64_t{1}} : variable(i - 1));
    made.below.push_back(std::move(body));
    body = std::move(made);
  }
  return body;
}

// The shared program, or `depth` nested lets where that is above zero, made once per process. With `linked` the tree holds
// the functions.
inline const Node& program(std::uint64_t depth, bool linked) {
  static std::map<std::pair<std::uint64_t, bool>, Node> made;
  const auto known = made.find({depth, linked});
  if (known != made.end()) return known->second;
  return made.emplace(std::pair{depth, linked}, depth > 0 ? nested(depth) : parsed(kProgram, linked)).first->second;
}

// The right output of the program, by its definition.
inline std::string right_output(std::uint64_t depth) {
  if (depth > 0) return "1";
  std::string text;
  for (int i = 1; i <= 100; ++i) {
    text += i == 1 ? "[" : ",";
    text += "\"" + std::string(i % 15 == 0 ? "fizzbuzz" : i % 5 == 0 ? "buzz" : i % 3 == 0 ? "fizz" : std::to_string(i)) + "\"";
  }
  return text + "]";
}

}  // namespace interp
