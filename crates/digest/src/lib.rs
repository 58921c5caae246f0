//! Spans in, a bounded digest out.
