//! Measures. This crate starts probes, asks them for samples in a fair order, checks their answers,
//! and appends every fact to a run file. It never prints and never judges which of two variants is
//! better.
//!
//! The modules, in the order in which one measurement passes through them (ARCHITECTURE.md, "Follow
//! one measurement"):
//!
//! | module | does |
//! |---|---|
//! | [`limits`] | when a cell has been measured enough |
//! | [`plan`] | suites x runtimes -> cells (workload and size) of rows (runtime and variant) |
//! | [`schedule`] | the order of rows in each round, the jitter, the restarts; all from one seed |
//! | [`link`] | what a measuring loop needs of a probe, a clock and a listener; tests put fakes here |
//! | [`clock`] | the real clock, which also looks at what else uses the machine |
//! | [`probe`] | the real probe: a process that speaks protocol 1 |
//! | [`bytes`](mod@bytes) | the files and the server of the workload `bytes` |
//! | `served` | one sample of a server, which the tool sends requests to |
//! | [`meant`] | which name was meant by one that there is not |
//! | [`validate`] | whether a request fits what the probe says of itself, before it is sent |
//! | `pause` | what stood still during a sample |
//! | [`bounds`] | how much a probe may say |
//! | [`threads`] | how many threads of a probe really ran during a sample |
//! | [`launcher`] | starts the probes of a run, to be timed or to be counted |
//! | `stamp` | whether a probe is still the same as when the run began |
//! | [`fault`] | everything that can go wrong with a probe, with its remedy |
//! | [`expect`] | which answer is right |
//! | `agree` | whether answers are the same where no rule computes them |
//! | `invariants` | which counts of an instrumented `interp`, `parked`, `blocking` or `bytes` are right |
//! | [`judge`] | whether a sample can be believed |
//! | [`calibrate`] | how many iterations make a sample long enough |
//! | `steps` | how many steps of the kernel last as long as the work that was asked for |
//! | `sitting` | one suite: its cells have turns, or their time one after another |
//! | `turns` | which cell has the next turn |
//! | `graded` | whether the growth of every series is certain |
//! | `larger` | sizes beyond the plan, where time is left |
//! | `fit` | what is left out where the machine is too slow |
//! | `forecast` | what smaller sizes say of larger ones |
//! | `beside` | keeps processes that are divided by one another on one CPU |
//! | `carried` | processes that go on from one size to the next, where growth is measured |
//! | `observations` | what the timed samples of a row tell, one value for each process |
//! | `waiting` | rows that wait: each of their samples is the first answer of a fresh process |
//! | `pilot` | finds how many iterations of a row last long enough |
//! | [`cell`] | pilot, warm-up, rounds, restarts, stop: one cell, all its rows |
//! | `deadline` | when a cell ends, and when its rows are given up |
//! | `count` | what rows ask of the allocator and the kernel, in processes of their own |
//! | `until` | counts the rows of a cell until its time is up |
//! | [`counted`] | the real counted process |
//! | [`pass`] | what is counted in the same processes |
//! | `counters` | what the runtime itself counts, where the probe reads it |
//! | `warmup` | samples until fresh processes have settled, within bounds |
//! | `row` | one row while it is measured |
//! | `widths` | how wide the intervals of a cell's rows are |
//! | [`run`] | header and plan, then one suite after another |
//! | [`journal`] | appends records to the run file, one write each |
//! | [`check`] | conformance of any probe |

mod agree;
mod ask;
mod beside;
pub mod bounds;
pub mod bytes;
pub mod calibrate;
mod carried;
pub mod cell;
pub mod check;
pub mod clock;
mod count;
pub mod counted;
mod counters;
mod deadline;
pub mod expect;
pub mod fault;
mod fit;
mod forecast;
mod graded;
mod invariants;
pub mod journal;
pub mod judge;
mod larger;
pub mod launcher;
pub mod limits;
pub mod link;
pub mod meant;
mod observations;
pub mod pass;
mod pause;
mod pilot;
pub mod plan;
pub mod probe;
mod row;
pub mod run;
mod said;
mod schedule;
pub mod served;
mod sitting;
mod stamp;
mod steps;
pub mod threads;
mod turns;
mod until;
pub mod validate;
mod waiting;
mod warmup;
mod widths;
