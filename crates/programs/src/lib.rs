//! Parallel programs, executed by a simulator from scheduling first principles.
//!
//! A program is tasks, what each waits for, and the machine that they run on. It is drawn from a
//! kind and a seed, executed event by event, and seen as some observer would see it. Advice is
//! judged by carrying it out: the program is changed as the advice says, and executed again with
//! the same random numbers. The crate knows nothing of the diagnosis that it judges.
//!
//! ```
//! use taskscale_programs::{Kind, Program, View, judge, observe};
//!
//! let program = Program::draw(Kind::OneStraggler, 7);
//! let execution = program.execute();
//! let seen = observe(&execution, &View::draw(7));
//! assert_eq!(seen.spans.len(), execution.spans.len());
//! assert!(!judge(&program).acceptable.is_empty());
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `draw` | numbers and durations from a seed |
//! | `program` | tasks, steps, dependences |
//! | `machine` | workers, queues, the cost of a start, disturbances |
//! | `graph` | writes programs |
//! | `kinds` | the kinds of programs that are drawn |
//! | `engine` | executes a program |
//! | `execution` | what an execution leaves behind |
//! | `view` | what an observer writes down |
//! | `change` | what advice makes of a program |
//! | `judge` | which advice helps, and so which diagnosis is right |
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod change;
pub mod draw;
pub mod engine;
pub mod execution;
pub mod graph;
pub mod judge;
pub mod kinds;
pub mod machine;
pub mod program;
pub mod view;

pub use change::Change;
pub use execution::{Executed, Execution, Stuck};
pub use judge::{Gain, Shown, Truth, judge, judge_execution, speedup};
pub use kinds::Kind;
pub use program::Program;
pub use view::{Clock, EventOrder, Observation, Observed, View, observe};
