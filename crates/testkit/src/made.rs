//! Makes values of a JSON Schema, with a text of one's own in every place that holds one.
//!
//! A test that walks what a schema allows looks at each field that there is, and at one that is
//! added tomorrow too.

use serde_json::{Map, Value};

/// How deep values go. Schemas that hold themselves would else never end.
const DEPTH: usize = 24;

/// Texts that would drive a terminal, turn or hide what stands around them, be markup, or end the
/// line or the cell that they stand in. All have the word `honest` in them.
pub const HOSTILE: [&str; 6] = [
    "honest\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{8}\u{0}\u{7f}",
    "\u{202e}honest\u{2066}\u{200f}\u{61c}\u{2069}",
    "ho\u{200b}nest honest\u{ad}\u{feff}\u{2060}\u{3164}\u{e0041}\u{180e}\u{34f}",
    "honest\r\n\n# y\n| a | b |\n|---|---|\n\u{2028}\u{85}\u{2029}::error::z",
    "<script>alert(1)</script>honest\"' onload='x' &#8238;&lrm; ]]>\u{fffe}\u{ffff}--><img src=x>",
    "=honest`*_[x](y)~\\",
];

/// What a text or the name of a member becomes, by its place: `rows/0/key/runtime`. The name of a
/// member has a `#` at its end.
pub type Text<'t> = dyn FnMut(&str) -> String + 't;

/// A value of the schema. `pick` chooses among alternatives, so that a few picks see all of them;
/// numbers follow from it too. Lists have three members, maps two.
pub fn value(schema: &Value, pick: usize, text: &mut Text<'_>) -> Value {
    Maker { root: schema, pick, text }.of(schema, "", 0)
}

struct Maker<'a, 't> {
    root: &'a Value,
    pick: usize,
    text: &'a mut Text<'t>,
}

impl Maker<'_, '_> {
    fn of(&mut self, schema: &Value, path: &str, depth: usize) -> Value {
        if depth > DEPTH {
            return Value::Null;
        }
        if let Some(known) = schema.get("$ref").and_then(Value::as_str) {
            let root = self.root;
            let named = root.pointer(known.trim_start_matches('#')).unwrap_or(&Value::Null);
            return self.with_members(named, schema, path, depth);
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words[self.pick % words.len().max(1)].clone();
        }
        for either in ["oneOf", "anyOf"] {
            if let Some(all) = schema.get(either).and_then(Value::as_array) {
                let one = &all[self.pick % all.len().max(1)];
                return self.with_members(one, schema, path, depth);
            }
        }
        self.typed(schema, path, depth)
    }

    /// A value of `one`, with the members that stand beside the reference or the alternatives too.
    fn with_members(&mut self, one: &Value, beside: &Value, path: &str, depth: usize) -> Value {
        let mut made = self.of(one, path, depth + 1);
        if let (Value::Object(members), true) = (&mut made, beside.get("properties").is_some())
            && let Value::Object(more) = self.typed(beside, path, depth)
        {
            members.extend(more);
        }
        made
    }

    fn typed(&mut self, schema: &Value, path: &str, depth: usize) -> Value {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one],
            _ if schema.get("properties").is_some() => vec!["object"],
            _ => vec!["null"],
        };
        // A value is looked at more often than its absence.
        let kind = match types.iter().find(|kind| **kind != "null") {
            Some(kind) if types.len() == 1 || self.pick % 4 != 3 => kind,
            _ => "null",
        };
        match kind {
            "string" => Value::String((self.text)(path)),
            "boolean" => Value::Bool(self.pick.is_multiple_of(2)),
            "integer" => self.whole(schema).into(),
            "number" => (self.whole(schema) as f64 + 0.25).into(),
            "array" => Value::Array(self.list(schema, path, depth)),
            "object" => Value::Object(self.object(schema, path, depth)),
            _ => Value::Null,
        }
    }

    /// A number within the limits of the schema.
    fn whole(&self, schema: &Value) -> u64 {
        let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
        let number = [3, 1, 0, 4_096][self.pick % 4];
        number.clamp(limit("minimum").unwrap_or(0.0).max(0.0) as u64, limit("maximum").unwrap_or(1e9) as u64)
    }

    fn list(&mut self, schema: &Value, path: &str, depth: usize) -> Vec<Value> {
        if let Some(parts) = schema.get("prefixItems").and_then(Value::as_array) {
            return parts
                .iter()
                .enumerate()
                .map(|(at, part)| self.of(part, &format!("{path}/{at}"), depth + 1))
                .collect();
        }
        let Some(items) = schema.get("items") else { return Vec::new() };
        let before = self.pick;
        let made = (0..3)
            .map(|at| {
                // Members differ, so that all alternatives are there sooner.
                self.pick = before + at;
                self.of(items, &format!("{path}/{at}"), depth + 1)
            })
            .collect();
        self.pick = before;
        made
    }

    fn object(&mut self, schema: &Value, path: &str, depth: usize) -> Map<String, Value> {
        let mut made = Map::new();
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            made.insert(name.clone(), self.of(member, &join(path, name), depth + 1));
        }
        if let Some(more @ Value::Object(_)) = schema.get("additionalProperties") {
            for at in 0..2 {
                let name = (self.text)(&format!("{}#", join(path, &at.to_string())));
                made.insert(name, self.of(more, &join(path, &at.to_string()), depth + 1));
            }
        }
        made
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_of_a_schema_is_asked_for() {
        let schema = json!({
            "$defs": {"Why": {"type": "object", "properties": {"reason": {"type": "string"}}}},
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "kind": {"const": "row"},
                "size": {"type": "integer", "minimum": 2, "maximum": 3},
                "list": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Why"}, {"type": "null"}]}},
                "map": {"type": "object", "additionalProperties": {"type": "number"}}
            }
        });
        let mut asked = Vec::new();
        let made = value(&schema, 0, &mut |path| {
            asked.push(path.to_owned());
            path.to_uppercase()
        });
        assert_eq!(asked, ["list/0/reason", "list/2/reason", "map/0#", "map/1#", "name"]);
        let list = json!([{"reason": "LIST/0/REASON"}, null, {"reason": "LIST/2/REASON"}]);
        assert_eq!(made["list"], list);
        assert_eq!(made["map"], json!({"MAP/0#": 3.25, "MAP/1#": 3.25}));
        assert_eq!((&made["kind"], &made["size"]), (&json!("row"), &json!(3)));
    }
}
