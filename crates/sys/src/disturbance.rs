//! What else used the machine.
