//! The parts that several experiments share. `experiments/README.md` lists the experiments.

pub mod child;
pub mod known;
pub mod runs;
pub mod timeline;
