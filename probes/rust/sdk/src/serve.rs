//! The loop: it reads a line and writes a line, flushed at once. A request that cannot be done gets
//! an error, and the probe lives on.

use super::{PROTOCOL, Run, Timing, describe::{Perform, Probe}, layout};
use serde_json::{Map, Value, json};
use std::{io::{self, BufRead, Write}, panic::{AssertUnwindSafe, catch_unwind}, process::ExitCode};

impl Probe {
    /// Serves standard input until it ends or says `exit`. Returns status 0 then, and 1 if a pipe
    /// failed.
    pub fn serve(&self) -> ExitCode {
        let mut output = io::stdout().lock();
        for line in io::stdin().lock().split(b'\n') {
            let Some(said) = line.ok().and_then(|line| self.reply(&line)) else { break };
            if writeln!(output, "{said}").and_then(|()| output.flush()).is_err() { return ExitCode::FAILURE; }
        }
        ExitCode::SUCCESS
    }

    /// The reply to a line. `exit` gets none.
    fn reply(&self, line: &[u8]) -> Option<Value> {
        let said = match serde_json::from_slice::<Value>(line) {
            Err(why) => Err(format!("the line is not JSON: {why}")),
            Ok(asked) => match asked["type"].as_str() {
                Some("exit") => return None,
                Some("run") => self.run(&asked),
                Some("describe") if asked["protocol"] == PROTOCOL => Ok(self.description()),
                Some("describe") => Err(format!("the tool speaks protocol {}, this probe of {} speaks protocol {PROTOCOL}; \
                    use a tool and a probe of one release", asked["protocol"], self.0["runtime"]["name"])),
                _ => Err(format!("unknown request type {}; known here: describe run exit", asked["type"])),
            },
        };
        Some(said.unwrap_or_else(|why| json!({"type": "error", "message": why, "protocol": PROTOCOL})))
    }

    /// Performs a request. A panic fails this request only (the system gave no thread, or an
    /// instrumented run found a wrong result).
    fn run(&self, asked: &Value) -> Result<Value, String> {
        let (perform, run) = self.request(asked)?;
        let done = catch_unwind(AssertUnwindSafe(|| layout::spread(&run, perform))).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
            Err(said.unwrap_or("a panic without a message").to_owned())
        });
        let Timing { wall_ns, cpu_ns, answer, extra } = done?;
        Ok(json!({"type": "sample", "id": run.id, "wall_ns": wall_ns, "cpu_ns": cpu_ns, "answer": answer, "extra": extra}))
    }

    /// The function that performs a request, and its run. Every declared parameter has a value in
    /// the run: the given one, or else the default, or, if the variant excludes the default, the
    /// first value that it allows.
    fn request(&self, message: &Value) -> Result<(&Perform, Run), String> {
        let at = known(&self.0["workloads"], &message["workload"], "workload")?;
        let workload = &self.0["workloads"][at];
        let variant = known(&workload["variants"], &message["variant"], "variant")?;
        let mut params = Map::new();
        for param in workload["params"].as_array().into_iter().flatten() {
            let name = param["name"].as_str().unwrap_or_default();
            let allowed = workload["variants"][variant]["only"][name].as_array();
            let first = allowed.filter(|allowed| !allowed.contains(&param["default"])).map(|allowed| &allowed[0]);
            params.insert(name.to_owned(), message["params"].get(name).or(first).unwrap_or(&param["default"]).clone());
        }
        let number = |name| message[name].as_u64().ok_or(format!("the request has no integer {name:?}"));
        let [id, size, iterations, seed] = ["id", "size", "iterations", "seed"].map(number);
        let [verify, phases] = ["verify", "phases"].map(|name| message["params"][name] == true);
        Ok((&self.1[at][variant], Run { id: id?, size: size?, iterations: iterations?, seed: seed?, verify, phases, params }))
    }
}

/// The position of a name in a list.
fn known(all: &Value, name: &Value, what: &str) -> Result<usize, String> {
    let names: Vec<&Value> = all.as_array().into_iter().flatten().map(|one| &one["name"]).collect();
    let unknown = || format!("unknown {what} {name}; known here: {}", json!(names));
    names.iter().position(|one| *one == name).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Param, Variant, Workload};

    fn served(line: &[u8]) -> Option<Value> {
        let double = Variant::new("double", |run| Ok(run.time(|_| 2 * run.size)));
        let grown = Variant::new("grown", |run| Ok(run.time(|_| run.integer("by"))))
            .only("by", [5, 7])
            .max_size(9, "why");
        let broken = Variant::new("broken", |_| panic!("at sea"));
        let failed = Variant::new("failed", |_| Err("on land".to_owned()));
        let params = Workload::new("sum").param(Param::new("by", 1, "how much"));
        let workload = params.variant(double).variant(grown).variant(broken).variant(failed);
        Probe::new("mine", "1.0").workload(workload).reply(line)
    }

    fn run(variant: &str, params: &str) -> Value {
        let line = format!(
            r#"{{"type":"run","id":3,"workload":"sum","variant":"{variant}","size":4,"iterations":3,"seed":1,"params":{params},"new":0}}"#
        );
        served(line.as_bytes()).unwrap()
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
    }

    #[test]
    fn phases_are_told_and_nothing_else_is_extra() {
        assert_eq!(run("double", r#"{"phases":true}"#)["extra"], json!({}));
        let told = Variant::new("told", |run| {
            Ok(run.time(|phases| {
                phases.created();
                1
            }))
        });
        let probe = Probe::new("mine", "1.0").workload(Workload::new("nop").variant(told));
        let line = r#"{"type":"run","id":1,"workload":"nop","variant":"told","size":1,"iterations":40,"seed":1,"params":{"phases":true}}"#;
        let sample = probe.reply(line.as_bytes()).unwrap();
        let told = |name: &str| sample["extra"][name].as_u64().unwrap();
        assert!(0 < told("create_wall_ns") && told("create_wall_ns") < sample["wall_ns"].as_u64().unwrap());
        assert!(told("create_cpu_ns") > 0);
    }

    #[test]
    fn a_panic_is_an_error_of_one_request() {
        assert_eq!(run("broken", "{}")["message"], "at sea");
        assert_eq!(run("failed", "{}")["message"], "on land");
    }

    #[test]
    fn a_word_that_is_not_known_is_named_with_those_that_are() {
        let said = r#"unknown variant "triple"; known here: ["double","grown","broken","failed"]"#;
        assert_eq!(run("triple", "{}")["message"], said);
    }

    #[test]
    fn nothing_is_said_to_exit() {
        assert_eq!(served(b"{\"type\":\"exit\"}"), None);
    }
}
