#!/usr/bin/env python3
"""Writes the run files of this folder: run it from the root of the repository. The seed is fixed, so it writes them again as they are."""
import json, random
random.seed(7)
def header(suite, sizes, load=0.31):
    return {"type":"header","schema":"taskscale.run/1","tool":"0.1.0","command":["taskscale","run",suite],"seed":42,"started_unix_s":1770000000,
    "machine":{"cpu_model":"Example CPU 9000","cpus_usable":2,"cpus":2,"threads_per_core":1,"numa_nodes":1,
      "cpu_quota":{"reason":"no quota is set"},"governor":{"reason":"the kernel shows no governor","remedy":"none needed in a virtual machine"},
      "memory_bytes":25769803776,"kernel":"Linux 6.18.0","clock_source":"kvm-clock","load_1m":load,"virtualised":True,"fingerprint":"f00d"},
    "suites":[{"schema":"taskscale.suite/1","name":suite,"title":"a taste","source":"","limits":{"samples":20,"max_time_s":None,"budget_s":None,"precision":None,"sample_ms":None},
      "baseline":{"tokio":["spawn"]},"workload":[{"name":"fanout","title":"fanout","sizes":sizes,"answer":{"rule":"sum_of_tasks"}}]}]}
def runtime(id,name,lang,ver,tool,workers):
    return {"type":"runtime","id":id,"command":[id+"-probe"],"state":"ready","runtime":{"name":name,"language":lang,"version":ver,"toolchain":tool},
     "clock":{"wall_resolution_ns":30,"cpu_resolution_ns":200},"workers":workers}
class File:
    def __init__(s): s.lines=[]; s.order=0
    def add(s,o): s.lines.append(json.dumps(o,separators=(",",":")))
    def row(s,n,rt,ver,variant,size,role="row",baseline=None,case=None,creates=True,jit=False,suite="quick",table="fanout order=ordered"):
        s.add({"type":"row","row":n,"suite":suite,"table":table,"workload":"fanout","runtime":rt,"version":ver,"variant":variant,"case":case or {},
         "params":dict({"order":"ordered"},**(case or {})),"size":size,"creates_task":creates,**({"jit":True} if jit else {}),"role":role,"baseline":baseline})
    def sample(s,n,rt,variant,size,kind,rnd,cpu,wall,iters,extra=None,process=0,threads=None,missing=None):
        o={"type":"sample","order":s.order,"row":n,"kind":kind,"round":rnd,"process":process,"workload":"fanout","runtime":rt,"variant":variant,"size":size,
         "iterations":iters,"seed":1000+s.order,"wall_ns":round(wall),"cpu_ns":round(cpu),"outside_wall_ns":round(wall)+20000,"answer":size}
        if extra: o["extra"]=extra
        if threads: o["threads"]={"ran":threads[0],"busiest_share":threads[1]}
        if missing: o["threads"]={"reason":missing}
        s.add(o); s.order+=1
    def round(s,size,rnd,table="fanout order=ordered",psi=100,steal=0):
        s.add({"type":"round","table":table,"size":size,"round":rnd,"cpu_pressure_us":psi,"steal_ticks":steal,"load_1m":0.8})
    def end(s,n,status="ok",**k):
        s.add(dict({"type":"row_end","row":n,"status":status},**k))
    def write(s,p): open(p,"w").write("\n".join(s.lines)+"\n")
D="crates/analysis/tests/data/"
# quick: five forms, four sizes
f=File(); sizes=[64,128,256,512]
f.add(header("quick",sizes))
f.add(runtime("tokio","tokio","rust","1.47.1","rustc 1.89",2)); f.add(runtime("asyncio","asyncio","python","3.11.7","CPython 3.11.7",1))
f.add({"type":"runtime","id":"trio","command":["python3","trio-probe"],"state":"missing","reason":"module trio is not installed","remedy":"pip install trio"})
forms=[("tokio","1.47.1","multi_thread/spawn","baseline",{},True,200,1.0,0.5),("tokio","1.47.1","multi_thread/spawn","control",{},True,200,1.0,0.5),
 ("tokio","1.47.1","multi_thread/JoinSet","row",{},True,276,1.0,0.6),("tokio","1.47.1","join_all","row",{},False,198,1.0,1.0),
 ("tokio","1.47.1","reverse","row",{},True,3.2,2.0,0.7),
 ("asyncio","3.11.7","create_task","baseline",{},True,1800,1.0,1.0),("asyncio","3.11.7","create_task","row",{"gc":"off"},True,1500,1.0,1.0),
 ("asyncio","3.11.7","gather","row",{},True,2000,1.0,1.0),("asyncio","3.11.7","eager","row",{},True,1,1.0,1.0)]
n=0; rows={}
for size in sizes:
    base={}
    for form in forms:
        rt,ver,v,role,case,cr=form[:6]
        if role=="baseline": base[rt]=n
        f.row(n,rt,ver,v,size,role,None if role=="baseline" else base[rt],case,None if v=="eager" else cr)
        rows[(form[0],form[2],role,bool(case),size)]=n; n+=1
for size in sizes:
    for rnd in range(20):
        machine=1+0.1*random.random()
        for form in forms:
            rt,ver,v,role,case,cr,c,e,w=form
            if v=="eager": continue
            if v=="gather" and size==512 and rnd>3: continue
            k=rows[(rt,v,role,bool(case),size)]
            iters=1000
            if rnd==0:
                f.sample(k,rt,v,size,"warmup",0,c*size**e*iters*3,c*size**e*iters*3,iters)
            cpu=c*size**e*iters*machine*(1+0.01*random.gauss(0,1))
            f.sample(k,rt,v,size,"timed",rnd,cpu,cpu*w*(1+0.2*random.random()),iters)
            if rnd%5==0 and v!="join_all" and size==512 and v!="gather":
                f.sample(k,rt,v,size,"phases",rnd,cpu,cpu*w,iters,{"create_cpu_ns":round(cpu*0.6),"create_wall_ns":round(cpu*w*0.55)})
        f.round(size,rnd)
    for form in forms:
        rt,ver,v,role,case=form[:5]
        k=rows[(rt,v,role,bool(case),size)]
        if v=="eager": f.end(k,"skipped",reason="needs Python 3.12",remedy="use --runtime asyncio@python3.12")
        elif v=="gather" and size==512: f.end(k,"failed",reason="answer was 4053505, expected 4053504",remedy="run `taskscale probe check` on it")
        else: f.end(k,"ok",stop="samples")
f.add({"type":"end","elapsed_s":12.5})
f.write(D+"quick.jsonl")
# wide: a sweep of eleven sizes, two rows, seven rounds, plus records of a later version
f=File(); sizes=[64<<i for i in range(11)]
f.add(header("fanout",sizes,load=1.9)); f.add(runtime("tokio","tokio","rust","1.47.1","rustc 1.89",2))
f.add({"type":"weather","sky":"blue"})
n=0
for size in sizes:
    f.row(n,"tokio","1.47.1","spawn",size,"baseline",suite="fanout",table="fanout"); f.row(n+1,"tokio","1.47.1","JoinSet",size,"row",n,suite="fanout",table="fanout"); n+=2
n=0
for size in sizes:
    it=max(1,200000//size)
    for rnd in range(7):
        for k,v,c in ((n,"spawn",200*size),(n+1,"JoinSet",300*size*max(1,size/8192))):
            cpu=c*it*(1+0.01*random.gauss(0,1)); f.sample(k,"tokio",v,size,"timed",rnd,cpu,cpu*0.6,it)
        f.round(size,rnd,"fanout",psi=12000,steal=1)
    f.end(n,"ok",stop="max_time"); f.end(n+1,"ok",stop="max_time"); n+=2
f.add({"type":"end","elapsed_s":30.0,"verdict":"new in 0.9"})
f.write(D+"wide.jsonl")
# hand: figures a reader can check by hand. ln ratio of round i is (i-10.5)/1000 + ln 1.5
import math
f=File(); f.add(header("hand",[10])); f.add(runtime("tokio","tokio","rust","1.47.1","rustc 1.89",2))
f.row(0,"tokio","1.47.1","spawn",10,"baseline",suite="hand",table="hand"); f.row(1,"tokio","1.47.1","JoinSet",10,"row",0,suite="hand",table="hand")
f.row(2,"tokio","1.47.1","spawn",10,"control",0,suite="hand",table="hand"); f.row(3,"tokio","1.47.1","late",10,"row",0,suite="hand",table="hand")
for i in range(1,21):
    base=10_000_000*(100+i)       # 100 iterations of 10 tasks: 10,000 ns x (100+i) per task
    f.sample(0,"tokio","spawn",10,"timed",i-1,base,2*base,100,process=0)
    f.sample(1,"tokio","JoinSet",10,"timed",i-1,base*1.5*math.exp((i-10.5)/1000),base,100)
    f.sample(2,"tokio","spawn",10,"timed",i-1,base*math.exp((i-10.5)/500),2*base,100)
    if i>17: f.sample(3,"tokio","late",10,"timed",i-1,base*2,base,100)
f.sample(0,"tokio","spawn",10,"phases",20,1000,4000,1,{"create_cpu_ns":250,"create_wall_ns":3000})
for k in range(4): f.end(k,"ok",stop="samples")
f.add({"type":"end","elapsed_s":1.0})
f.write(D+"hand.jsonl")
# jit: a runtime whose code is compiled while it runs, beside one whose is not; 6 processes of 2 rounds. A fresh process costs
# 8, then 3, then 1 times as much; four processes of `late` are timed after three samples, at 3 times
f=File(); sizes=[2048]
f.add(header("jit",sizes)); f.add(runtime("java","java","java","25.0.1","OpenJDK 25",2)); f.add(runtime("tokio","tokio","rust","1.47.1","rustc 1.89",2))
forms=[("java","25.0.1","virtual/start","baseline",900,True),("java","25.0.1","virtual/start","control",900,True),("java","25.0.1","late","row",1000,True),
 ("tokio","1.47.1","spawn","baseline",200,False),("tokio","1.47.1","spawn","control",200,False)]
n=0; rows=[]
for size in sizes:
    for k,(rt,ver,v,role,c,jit) in enumerate(forms):
        base=None if role=="baseline" else n-k if rt=="java" else n-1
        f.row(n,rt,ver,v,size,role,base,jit=jit,suite="jit",table="fanout"); rows.append((n,rt,v,size,c,jit)); n+=1
for size in sizes:
    for process in range(6):
        for k,rt,v,sz,c,jit in rows:
            if sz!=size: continue
            one=c*size*1000
            early=v=="late" and process>1
            cost=lambda i: one*(1 if not jit or i>=4 else 3 if i>=1 else 8)*(1+0.02*random.gauss(0,1))
            if process==0: f.sample(k,rt,v,size,"verify",0,one*9,one*9,1000,process=0)
            if process==0 and jit: [f.sample(k,rt,v,size,"pilot",0,cost(i),cost(i),1000,process=0) for i in range(2)]
            start=2 if process==0 and jit else 0
            many=3 if not jit else 3 if early else 28
            for i in range(start,start+many): f.sample(k,rt,v,size,"warmup",2*process,cost(i),cost(i),1000,process=process)
            for rnd in range(2):
                cpu=cost(start+many); f.sample(k,rt,v,size,"timed",2*process+rnd,cpu,cpu*0.7,1000,process=process)
    for rnd in range(12): f.round(size,rnd,"fanout")
    for k,rt,v,sz,c,jit in rows:
        if sz==size: f.end(k,"ok",stop="max_time")
f.add({"type":"end","elapsed_s":20.0})
f.write(D+"jit.jsonl")
# threads: a runtime of two workers. `spawn` always has both, `woken` the second in a third of its samples, `alone` never; `threads` starts one for
# each task, which nobody sees; asyncio has one worker and one thread
f=File(); f.add(header("threads",[2048])); f.add(runtime("tokio","tokio","rust","1.47.1","rustc 1.89",2)); f.add(runtime("asyncio","asyncio","python","3.11.7","CPython 3.11.7",1))
forms=[("tokio","1.47.1","spawn","baseline",lambda i:(2,0.52)),("tokio","1.47.1","spawn","control",lambda i:(2,0.53)),("tokio","1.47.1","woken","row",lambda i:(2,0.6) if i%3==0 else (1,0.97)),
 ("tokio","1.47.1","alone","row",lambda i:(1,1)),("tokio","1.47.1","threads","row",lambda i:None),("asyncio","3.11.7","gather","baseline",lambda i:(1,1))]
for k,(rt,ver,v,role,ran) in enumerate(forms): f.row(k,rt,ver,v,2048,role,None if role=="baseline" else 0,suite="threads",table="fanout")
for i in range(12):
    for k,(rt,ver,v,role,ran) in enumerate(forms):
        one=ran(i); cpu=200*2048*100*(1+0.01*random.gauss(0,1)); wall=cpu*(one[1] if one else 0.6)
        f.sample(k,rt,v,2048,"timed",i,cpu,wall,100,process=i//2,threads=one,missing=None if one else "most CPU time was used by threads that ended within the sample")
    f.round(2048,i,"fanout")
for k in range(6): f.end(k,"ok",stop="samples")
f.add({"type":"end","elapsed_s":3.0})
f.write(D+"threads.jsonl")
# granularity: sweeps of 256 tasks, in six processes of one round, each slower or faster as a whole by the factors below, whose median is 1. The
# kernel takes 4 ns a call and 2 ns a step. `even`: 300 ns a task beside it, by wall 800 ns of both cores; `alone`: one thread; `light`: 10 ns a task, by
# wall no faster than one core; `blind`: its kernel failed
f=File(); f.add(header("granularity",[256])); f.add(runtime("tokio","tokio","rust","1.47.1","rustc 1.89",2))
works=[100,400,1600,6400,25600,102400]; rows=[]; n=0
alone=lambda t: 4+2*t
forms=[("even",300,lambda t: alone(t)/2+400,(2,0.5)),("alone",300,lambda t: alone(t)+300,(1,1)),("light",10,alone,(2,0.6)),("blind",300,alone,(2,0.5))]
for number,(v,over,wall,ran) in enumerate(forms):
    for part,w in [("tasks",w) for w in works]+[("kernel",works[0]),("kernel",works[-1]),("control",works[0])]:
        k=part=="kernel"; first=n-len(works)-2
        f.add({"type":"row","row":n,"suite":"granularity","table":"independent tasks","workload":"spin" if k else "fanout","runtime":"tokio","version":"1.47.1",
          "variant":"loop" if k else v,"case":{"work_ns":w},"params":{} if k else {"order":"ordered","work":w//2},"size":w//2 if k else 256,"creates_task":not k,
          "sweep":{"number":number,"work_ns":w,"part":"kernel" if k else "tasks"},"role":"control" if part=="control" else "row","baseline":first if part=="control" else None})
        cpu=alone(w//2)/(w//2) if k else alone(w//2)+over
        rows.append((n,"loop" if k else v,w//2 if k else 256,cpu,cpu if k else wall(w//2),ran,k and v=="blind")); n+=1
for process,factor in enumerate([0.9,1.1,0.98,1.02,0.95,1.05]):
    for k,v,size,cpu,wall,ran,failed in rows:
        if not failed: f.sample(k,"tokio",v,size,"timed",process,cpu*factor*size*10000,wall*factor*size*10000,10000,process=process,threads=ran)
    f.round(256,process,"independent tasks")
for k,v,size,cpu,wall,ran,failed in rows:
    if failed: f.end(k,"failed",reason="the answer is 1, right is 2",remedy="run `taskscale probe check` on it")
    else: f.end(k,"ok",stop="max_time")
f.add({"type":"end","elapsed_s":20.0})
f.write(D+"granularity.jsonl")
# versions: two Pythons, the newer one named last; `gather` and `wait` cost it 0.55 and 0.65 as much, `eager` only it has. No tokio is there
f=File(); f.add(header("versions",[2048]))
for tool,ver in (("python3.8","3.8.18"),("python3.13","3.13.0")): f.add(runtime("asyncio@"+tool,"asyncio","python",ver,"CPython "+ver,1))
forms=[("asyncio@python3.8","3.8.18","gather","baseline",6000,None),("asyncio@python3.8","3.8.18","wait","row",6500,0),("asyncio@python3.8","3.8.18","eager","row",1,0),
 ("asyncio@python3.13","3.13.0","gather","baseline",3300,None),("asyncio@python3.13","3.13.0","wait","row",4225,3),("asyncio@python3.13","3.13.0","eager","row",1100,3)]
for k,(rt,ver,v,role,c,base) in enumerate(forms): f.row(k,rt,ver,v,2048,role,base,suite="versions",table="fanout")
for i in range(12):
    machine=1+0.1*random.random()
    for k,(rt,ver,v,role,c,base) in enumerate(forms):
        cpu=c*2048*100*machine*(1+0.01*random.gauss(0,1))
        if k!=2: f.sample(k,rt,v,2048,"timed",i,cpu,cpu,100,process=i//2)
    f.round(2048,i,"fanout")
for k in range(6):
    if k==2: f.end(k,"skipped",reason="needs Python 3.12",remedy="name a newer one: --runtime asyncio@python3.12")
    else: f.end(k,"ok",stop="samples")
f.add({"type":"end","elapsed_s":8.0})
f.write(D+"versions.jsonl")
