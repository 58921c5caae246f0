//! The loop: a line in, a line out, flushed at once. A request that cannot be done gets an error; the probe lives on.

use std::{
    any::Any,
    io::{self, BufRead, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use serde_json::{Map, Value, json};

use super::{PROTOCOL, describe::Probe, layout};

/// The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped, so
/// that junk cannot fill the memory.
pub const MAX_LINE: usize = 1 << 20;

impl Probe {
    /// Serves standard input until it ends or says `exit`. Status 0 then; 1 where a pipe failed.
    pub fn serve(&self) -> ExitCode {
        match self.serve_on(&mut io::stdin().lock(), &mut io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Nothing is left to do where standard error is gone too.
                let _ =
                    writeln!(io::stderr(), "probe {}: standard input or output failed: {error}", self.name);
                ExitCode::FAILURE
            }
        }
    }

    /// As [`Probe::serve`], on any pair of streams.
    pub fn serve_on(&self, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            let reply = match read_line(input, &mut line)? {
                Line::End => return Ok(()),
                Line::TooLong => error(format!("the line is longer than {MAX_LINE} bytes")),
                Line::Whole => match self.reply(&line) {
                    Some(reply) => reply,
                    None => return Ok(()),
                },
            };
            writeln!(output, "{reply}")?;
            output.flush()?;
        }
    }

    /// The reply to a line; none to `exit`.
    fn reply(&self, line: &[u8]) -> Option<Value> {
        let message = match serde_json::from_slice(line) {
            Ok(Value::Object(message)) => message,
            Ok(_) => return Some(error("the line is not a JSON object")),
            Err(reason) => return Some(error(format!("the line is not JSON: {reason}"))),
        };
        Some(match message.get("type").and_then(Value::as_str) {
            Some("exit") => return None,
            Some("describe") => self.describe(&message),
            Some("run") => self.run(&message).unwrap_or_else(error),
            Some(other) => error(format!("unknown request type {other:?}; known here: describe, run, exit")),
            None => error("the request has no field \"type\" that is a string"),
        })
    }

    fn describe(&self, message: &Map<String, Value>) -> Value {
        match message.get("protocol") {
            Some(asked) if asked.as_u64() == Some(PROTOCOL) => self.description(),
            Some(asked) => {
                let name = &self.name;
                let message = format!(
                    "the tool speaks protocol {asked}, this probe of {name} speaks protocol {PROTOCOL}; \
                     use a tool and a probe of one release"
                );
                json!({ "type": "error", "message": message, "protocol": PROTOCOL })
            }
            None => error("the request has no field \"protocol\""),
        }
    }

    fn run(&self, message: &Map<String, Value>) -> Result<Value, String> {
        let (variant, run) = self.request(message)?;
        // A panic (no thread to be had, a wrong result found by an instrumented run) is this request's failure only.
        let timing = catch_unwind(AssertUnwindSafe(|| layout::spread(&run, &|part| (variant.perform)(part))))
            .unwrap_or_else(|panic| Err(format!("variant {:?} failed: {}", variant.name, said(&*panic))))?;
        let mut sample = json!({
            "type": "sample",
            "id": run.id,
            "wall_ns": timing.wall_ns,
            "cpu_ns": timing.cpu_ns,
            "answer": timing.answer,
        });
        if !timing.extra.is_empty() {
            sample["extra"] = timing.extra.into();
        }
        Ok(sample)
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    if input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    if line.len() <= MAX_LINE || line.ends_with(b"\n") {
        return Ok(Line::Whole);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

fn error(message: impl Into<String>) -> Value {
    json!({ "type": "error", "message": message.into() })
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Param, Variant, Workload};

    fn served(input: &[u8]) -> Vec<Value> {
        let double = Variant::new("double", |run| Ok(run.time(|_| 2 * run.size)));
        let grown = Variant::new("grown", |run| Ok(run.time(|_| run.integer("by"))))
            .only("by", [5, 7])
            .max_size(9, "why");
        let broken = Variant::new("broken", |_| panic!("at sea"));
        let params = Workload::new("sum").param(Param::new("by", 1, "how much"));
        let probe = Probe::new("mine", "1.0").workload(params.variant(double).variant(grown).variant(broken));
        let mut output = Vec::new();
        probe.serve_on(&mut &*input, &mut output).unwrap();
        output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
    }

    fn run(variant: &str, params: &str) -> Value {
        let line = format!(
            r#"{{"type":"run","id":3,"workload":"sum","variant":"{variant}","size":4,"iterations":3,"seed":1,"params":{params},"new":0}}"#
        );
        served(line.as_bytes()).remove(0)
    }

    #[test]
    fn iterations_are_summed_and_the_id_is_echoed() {
        let sample = run("double", "{}");
        assert_eq!((&sample["answer"], &sample["id"]), (&json!(24), &json!(3)));
    }

    #[test]
    fn an_absent_parameter_takes_its_default_or_the_first_value_that_the_variant_allows() {
        assert_eq!(run("grown", "{}")["answer"], 15);
        assert_eq!(run("grown", r#"{"by":7}"#)["answer"], 21);
        assert!(run("grown", r#"{"by":1}"#)["message"].as_str().unwrap().contains("only with 5, 7"));
    }

    #[test]
    fn a_panic_is_an_error_of_one_request() {
        assert_eq!(run("broken", "{}")["message"], "variant \"broken\" failed: at sea");
    }

    #[test]
    fn a_long_line_is_skipped_whole() {
        let mut input = vec![b'x'; MAX_LINE + 1];
        input.extend(b"\n{\"type\":\"describe\",\"protocol\":1}\n");
        let replies = served(&input);
        assert_eq!(replies.len(), 2);
        assert!(replies[0]["message"].as_str().unwrap().contains("longer than"));
        assert_eq!(replies[1]["type"], "description");
    }

    #[test]
    fn nothing_is_said_after_exit() {
        assert_eq!(served(b"{\"type\":\"exit\"}\n{\"type\":\"describe\",\"protocol\":1}\n").len(), 0);
    }
}
