//! What stands below the options of each command: exit statuses and examples.

pub const RUN_EXAMPLES: &str =
    "Exit status: 0 measured; 1 with --against, a row is worse; 2 wrong usage, nothing measured, or a \
runtime or probe that was named cannot be had, whatever the others gave; 3 with --strict, a verdict \
cannot be told; 130 interrupted. A row that \
fails or is skipped is a row with its reason.

Examples:
  taskscale run                                      two minutes: what does a task cost here?
  taskscale run fanout --runtime tokio --size 2048   one runtime, one size
  taskscale run fanout --runtime asyncio@python3.8 --runtime asyncio@python3.13 --size 2048
                                                     two versions of one runtime, side by side
  taskscale run fanout --variant gather --variant TaskGroup --work 10us
                                                     two variants, with work in each task
  taskscale run nop --runtime asyncio --format md    tables for a pull request
  taskscale run fanout --size 2048 --against go@/opt/go1.25
                                                     is Go dearer than before? exit status 1 if so
  taskscale run fanout --probe new/mine.py --against old/mine.py
                                                     is my code?
  taskscale run guide                                Taskflow's guide, put to the test: 5 minutes
  taskscale run guide --claim 28                     one of its claims (taskscale list guide): 8 s
  taskscale run nop --runtime tokio --counts         allocations and system calls per task too
  taskscale run --probe my_probe.go                  what your own code costs, and how that grows
                                                     (taskscale new-probe go)
  taskscale run --probe my_probe.go --beside go,tokio
                                                     the same beside runtimes that have its workload
  taskscale run fanout --probe my_probe.go --runtime go
                                                     held to the answers of a suite, beside ours";

pub const LIST_EXAMPLES: &str = "Examples:
  taskscale list                                     everything, a line each
  taskscale list nop                                 the tables of a suite, with their sizes
  taskscale list guide                               what each claim of Taskflow's guide says
  taskscale list tokio asyncio@python3.13            what a runtime, or one toolchain, can do";

pub const REPORT_EXAMPLES: &str = "Examples:
  taskscale report last                              the answer of the newest run again
  taskscale report last --details                    all figures, threads, growth and notes
  taskscale report last --baseline go                ratios to the cheapest way of Go
  taskscale report last --runtime 'asyncio.*' --size 2048
  taskscale report last -o r.html -o r.csv           files, each as its ending says
  taskscale report killed.taskscale.jsonl            what a killed run had measured
  taskscale report last --format json | jq '.rows[] | select(.status == \"failed\")'";

pub const COMPARE_USAGE: &str = "taskscale compare [OPTIONS] <OLD> <NEW>
       taskscale compare [OPTIONS] <RUN>
       taskscale compare [OPTIONS] --baseline <NAME> <NEW>";

pub const COMPARE_EXAMPLES: &str =
    "Two files are two sessions, and sessions differ: where it can be had, measure both in one \
run instead (taskscale run --against OLD). Exit status: 0 no regression shown; 1 a row is worse, \
failed now, or has an exact count that grew; 2 wrong usage, or a file that cannot be read; 3 with \
--strict, nothing is worse and some verdict cannot be told.

Examples:
  taskscale compare old.taskscale.jsonl new.taskscale.jsonl
  taskscale run fanout --save-baseline main          keeps .taskscale/main.taskscale.jsonl
  taskscale compare --baseline main new.taskscale.jsonl --threshold 5% --format md
  taskscale compare old.taskscale.jsonl new.taskscale.jsonl --strict
                                                     status 3 too where a verdict cannot be told";

pub const SETUP_EXAMPLES: &str = "Examples:
  taskscale setup                                    everything whose toolchain is on this machine
  taskscale setup python                             a virtual environment with uvloop, trio and anyio
  taskscale setup go swift                           the probes of these two
  taskscale setup java@/usr/lib/jvm/temurin-25       with one toolchain";

pub const NEW_PROBE_EXAMPLES: &str = "Examples:
  taskscale new-probe go                             writes my_probe.go
  taskscale new-probe swift map.swift                under another name
  taskscale run --probe my_probe.go                  its cost, and how it grows
  taskscale run --probe my_probe.go --beside go      yours beside ours";

pub const CONFIG_EXAMPLES: &str = "Examples:
  g++ -O2 main.cpp $(taskscale config --cflags --libs) -o main
  taskscale config --libs --shared                   the shared library instead of the static one";

pub const DIGEST_EXAMPLES: &str = "Reads Chrome trace events (Taskflow, Ray, VizTracer, Node, tracing-chrome, PyTorch, Bazel, clang and others), TFProf JSON and .tfp, \
Dask task streams and ninja logs, told apart by their content, in constant memory; packed by gzip or zstd too.

Examples:
  taskscale digest trace.json                        where did the time go, and what to change
  taskscale digest --workers 16 trace.json           workers that never ran count too
  taskscale digest --format json trace.json | jq '.patterns[0]'
  taskscale digest node-1.json node-2.json           several files become one digest
  taskscale digest trace.json.gz                     packed by gzip or zstd
  xz -dc trace.json.xz | taskscale digest -          from standard input
  taskscale digest --chrome clean.json trace.json    a trace that Perfetto shows in full
  taskscale digest --partial a.partial --host a trace.json
                                                     16 KB at most, to merge with other hosts'
  taskscale digest --by host traces/*.json           a digest of each file, the worst first";

pub const MERGE_EXAMPLES: &str =
    "A partial has the sums of one trace, or of many that were merged. Merging gives the same bytes in \
any order and in any number of steps. Clocks of hosts are not aligned: shares are of the worker time \
of all, and each cause is that of its host's own diagnosis. A file that is no whole partial is named \
and left out, and -o writes nothing then. Exit status: 0 done; 2 wrong usage, or a file was left out.

Examples:
  taskscale merge *.partial                          the digest of all hosts
  taskscale merge *.partial -o all.partial           and the sums, to be merged further
  taskscale merge *.partial --by host                a digest of each host, the worst first
  cat *.partial | taskscale merge -                  many partials in one file are as good";

pub const COMPLETIONS_EXAMPLES: &str = "Examples:
  eval \"$(taskscale completions bash)\"              in ~/.bashrc
  eval \"$(taskscale completions zsh)\"               in ~/.zshrc, behind compinit
  taskscale completions fish | source                in ~/.config/fish/config.fish";

pub const DOCTOR_EXAMPLES: &str =
    "Takes 1 to 5 seconds, most of it work on one CPU. Exit status 0, whatever is found.

Examples:
  taskscale doctor                                   before a run whose wall times matter
  taskscale doctor --format md                       for an issue or a pull request
  taskscale doctor --format json | jq '.findings[] | select(.severity == \"warning\")'";
