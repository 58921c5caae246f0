//! Bytes in, spans out: streaming readers of task traces.
