//! A run and a digest, each as one HTML page that needs nothing else.
//!
//! | module | does |
//! |---|---|
//! | `run` | the page of a run, and its first ranking as one picture |
//! | `digest` | the page of a digest |
//! | `frame` | what both have around their figures: policy, look, command, data |
//! | `axis`, `marks` | what all drawings are made of |
//! | `markup`, `guard` | what keeps names from becoming markup, and a page to itself |

mod axis;
mod digest;
mod frame;
mod guard;
mod marks;
mod markup;
mod run;

pub use digest::digest_html;
pub use run::{page, strip_svg};
