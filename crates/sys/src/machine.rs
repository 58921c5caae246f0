//! What the machine is.
