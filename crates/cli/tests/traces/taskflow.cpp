// The program that wrote taskflow-*.json with Taskflow 3.9 on two workers:
//   g++ -std=c++17 -O2 -pthread taskflow.cpp -o t && ./t straggler taskflow-straggler
#include <taskflow/taskflow.hpp>
#include <fstream>
#include <iostream>
#include <atomic>
static std::atomic<uint64_t> sink{0};
static void spin(uint64_t us){ auto t=std::chrono::steady_clock::now()+std::chrono::microseconds(us); uint64_t x=1; while(std::chrono::steady_clock::now()<t) x=x*6364136223846793005ull+1; sink+=x; }
int main(int argc,char**argv){
  tf::Executor ex(2);
  auto chrome=ex.make_observer<tf::ChromeObserver>();
  auto prof=ex.make_observer<tf::TFProfObserver>();
  tf::Taskflow f;
  std::atomic<int> ran{0};
  std::string kind=argv[1];
  if(kind=="balanced") for(int i=0;i<150;i++) f.emplace([&]{spin(400);ran++;}).name("step");
  if(kind=="chain"){ tf::Task p; for(int i=0;i<80;i++){ auto t=f.emplace([&]{spin(500);ran++;}).name("link"); if(i) p.precede(t); p=t; } }
  if(kind=="straggler"){ for(int i=0;i<100;i++) f.emplace([&]{spin(300);ran++;}).name("small"); auto j=f.emplace([&]{spin(90000);ran++;}).name("huge"); }
  ex.run(f).wait(); ex.wait_for_all();
  std::ofstream c(std::string(argv[2])+".chrome.json"); chrome->dump(c);
  std::ofstream p(std::string(argv[2])+".tfprof.json"); prof->dump(p);
  std::cout<<"tasks "<<ran<<" observer "<<chrome->num_tasks()<<"\n";
}
