// Claim 39: a pipeline against a graph, batches and a loop. The guide says nothing of it.
//   g++ -std=c++20 -O2 -pthread 39_pipeline.cpp -o X
#include <taskflow/algorithm/pipeline.hpp>

#include "guide.hpp"
using namespace guide;

namespace {
constexpr u64 kStages = 4;  // the first and the last take tokens in order; the two between them any number at once
// The last stage folds tokens in their order, so that an answer tells it.
struct Work {
  u64 steps, next = 0, fold = 0;
  bool in_order = true;
  std::vector<u64> values;
  Work(u64 tokens, u64 steps) : steps(steps), values(tokens) {}
  void operator()(u64 stage, u64 token) {
    u64& value = values[token];
    if (stage == 0) in_order &= token == next++, value = token;
    value = spin(value, steps);
    if (stage + 1 == kStages) fold = fold * 31 + value;
  }
  u64 answer() const { return in_order ? fold : 0; }
};

u64 pipeline(Sample& s, u64 tokens, u64 steps, u64 lines) {
  tf::Executor& executor = guide::executor();
  Work work(tokens, steps);
  tf::Pipeline line(lines,
    tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) { if (flow.token() == tokens) flow.stop(); else work(0, flow.token()); }},
    tf::Pipe{tf::PipeType::PARALLEL, [&](tf::Pipeflow& flow) { work(1, flow.token()); }},
    tf::Pipe{tf::PipeType::PARALLEL, [&](tf::Pipeflow& flow) { work(2, flow.token()); }},
    tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& flow) { work(3, flow.token()); }});
  tf::Taskflow graph;
  graph.composed_of(line);
  s.settle();
  s.run(executor, graph);
  return work.answer();
}
u64 tasks(Sample& s, u64 tokens, u64 steps, bool time_build) {  // a node for each stage of each token
  tf::Executor& executor = guide::executor();
  Work work(tokens, steps);
  s.settle();
  if (time_build) s.start();
  tf::Taskflow graph;
  std::vector<tf::Task> before(kStages);  // of the token before, by stage
  for (u64 token = 0; token < tokens; ++token) {
    tf::Task left;
    for (u64 stage = 0; stage < kStages; ++stage) {
      tf::Task task = graph.emplace([&work, stage, token] { work(stage, token); });
      if (stage > 0) left.precede(task);
      if (token > 0 && (stage == 0 || stage + 1 == kStages)) before[stage].precede(task);
      left = before[stage] = task;
    }
  }
  if (!time_build) s.start();
  executor.run(graph).wait();
  s.stop();
  return work.answer();
}
u64 batches(Sample& s, u64 tokens, u64 steps) {  // a run for each stage, whose end is a barrier
  tf::Executor& executor = guide::executor();
  Work work(tokens, steps);
  std::vector<tf::Taskflow> stages(kStages);
  for (u64 stage = 0; stage < kStages; ++stage) {
    if (stage == 0 || stage + 1 == kStages) stages[stage].emplace([&work, stage, tokens] { for (u64 token = 0; token < tokens; ++token) work(stage, token); });
    else stages[stage].for_each_index(u64{0}, tokens, u64{1}, [&work, stage](u64 token) { work(stage, token); });
  }
  s.settle();
  s.start();
  for (tf::Taskflow& graph : stages) executor.run(graph).wait();
  s.stop();
  return work.answer();
}
u64 loop(Sample& s, u64 tokens, u64 steps) {
  Work work(tokens, steps);
  s.start();
  for (u64 token = 0; token < tokens; ++token) for (u64 stage = 0; stage < kStages; ++stage) work(stage, token);
  s.stop();
  return work.answer();
}
}  // namespace

int main(int argc, char** argv) {
  Program p(argc, argv, "A pipeline against a graph, batches and a loop (claim 39, a question).");
  const u64 tokens = p.size(512, 64), n = tokens * kStages, lines = 2 * cores();
  std::vector<u64> sizes{16};
  for (u64 steps = 64; steps <= p.size(4'096, 64); steps *= 4) sizes.push_back(steps);
  Names pipelines, loops;
  std::vector<u64> answers;
  for (const u64 steps : sizes) {
    Work work(tokens, steps);
    for (u64 token = 0; token < tokens; ++token) for (u64 stage = 0; stage < kStages; ++stage) work(stage, token);
    answers.push_back(work.answer());
    pipelines.push_back("pipeline/" + std::to_string(steps)), loops.push_back("loop/" + std::to_string(steps));
  }
  const string fine = "/16", coarse = "/" + std::to_string(sizes.back());
  Claim claim{39, "Does a pipeline beat a graph of its tokens?", "wall", {
    ratio("the finest stages: a pipeline against a graph that is there", "wall_ns", "pipeline" + fine, "graph" + fine, {}),
    ratio("the same, CPU time", "cpu_ns", "pipeline" + fine, "graph" + fine, {}),
    ratio("against a graph that is built for it", "wall_ns", "pipeline" + fine, "built" + fine, {}),
    ratio("against a batch for each stage", "wall_ns", "pipeline" + fine, "batches" + fine, {}),
    difference("what a stage of a token costs beside a loop, CPU time", "cpu_ns", "pipeline" + fine, "loop" + fine, {}),
    ratio("the longest stages: against a graph that is there", "wall_ns", "pipeline" + coarse, "graph" + coarse, {}),
    ratio("against a batch for each stage", "wall_ns", "pipeline" + coarse, "batches" + coarse, {}),
    ratio("one line against " + std::to_string(lines), "wall_ns", "pipeline/1 line", pipelines[0], {}),
    crossover("length of a stage from which on it takes no more wall time than a loop", "wall_ns", loops, pipelines, 1, 1, {})},
    "wall time; 512 tokens through four stages, of which the first and the last take them in order, by twice as many lines as CPUs. built: construction "
    "is timed too"};
  claim.question = true;
  p.claim(claim);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const u64 steps = sizes[i], answer = answers[i];
    const double ns = double(steps) * step_ns();
    p.arm({pipelines[i], n, answer, ns}, [=](Sample& s) { return pipeline(s, tokens, steps, lines); });
    p.arm({loops[i], n, answer, ns}, [=](Sample& s) { return loop(s, tokens, steps); });
    if (i > 0 && i + 1 < sizes.size()) continue;
    const string end = "/" + std::to_string(steps);
    p.arm({"graph" + end, n, answer}, [=](Sample& s) { return tasks(s, tokens, steps, false); });
    p.arm({"built" + end, n, answer}, [=](Sample& s) { return tasks(s, tokens, steps, true); });
    p.arm({"batches" + end, n, answer}, [=](Sample& s) { return batches(s, tokens, steps); });
  }
  p.arm({"pipeline/1 line", n, answers[0]}, [=](Sample& s) { return pipeline(s, tokens, 16, 1); });
  return p.run();
}
