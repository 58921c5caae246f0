// A renderer: load, 398 tiles, save, five times over, on two workers. SPLIT divides load and save.
#include <taskflow/taskflow.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#ifdef SPLIT
constexpr int PIECES = 8;
#else
constexpr int PIECES = 1;
#endif

double work(int n) {
  double x = 1;
  for (int i = 0; i < n; i++) x = std::sqrt(x + i);
  return x;
}

int main() {
  tf::Executor executor(2);
  auto profiler = executor.make_observer<tf::TFProfObserver>();
  auto chrome = executor.make_observer<tf::ChromeObserver>();
  tf::Taskflow flow("render");
  std::vector<double> out(400), parts(2 * PIECES);
  auto loaded = flow.emplace([] {}).name("loaded");
  auto rendered = flow.emplace([] {}).name("rendered");
  for (int k = 0; k < PIECES; k++) {
    auto piece = [&parts](int at) { return [&parts, at] { parts[at] = work(20'000'000 / PIECES); }; };
    flow.emplace(piece(k)).name("load").precede(loaded);
    flow.emplace(piece(PIECES + k)).name("save").succeed(rendered);
  }
  for (int i = 0; i < 398; i++) {
    auto tile = flow.emplace([&out, i] { out[i] = work(200'000 + 500 * i); });
    tile.name("tile " + std::to_string(i));
    loaded.precede(tile);
    tile.precede(rendered);
  }
  for (int i = 0; i < 5; i++) executor.run(flow).wait();
  std::ofstream tfprof("render.tfp.json"), events("render.json");
  profiler->dump(tfprof);
  chrome->dump(events);
  double sum = 0;
  for (double x : out) sum += x;
  for (double x : parts) sum += x;
  return sum < 0;
}
