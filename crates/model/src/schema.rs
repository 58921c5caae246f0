//! JSON Schemas (draft 2020-12) of all contracts, generated from the types that write and read
//! them.
//!
//! A document that this version writes has no field that its schema does not name. What a probe
//! replies is open: the tool ignores what it does not know.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Value, json};

use crate::{
    compare::Comparison,
    digest::{Digest, Groups},
    doctor::Checkup,
    guide::{self, Verdicts},
    partial::Partial,
    protocol::{Answer, Reply, Request},
    run_file::{Record, line},
    suite::Suite,
    summary::Summary,
};

/// A schema and the name of its file.
pub struct Contract {
    /// For example `run.schema.json`.
    pub file: &'static str,
    pub schema: Value,
}

/// All contracts, in the order of their names.
pub fn all() -> Vec<Contract> {
    vec![
        written::<Comparison>("compare.schema.json", "A comparison of two runs, taskscale.compare/1"),
        written::<Digest>("digest.schema.json", "A digest, taskscale.digest/1"),
        written::<Groups>("digests.schema.json", "Digests of groups of sources, taskscale.digests/1"),
        written::<Checkup>("doctor.schema.json", "A checkup of a machine, taskscale.doctor/1"),
        written::<guide::Record>("guide.schema.json", "A line of a file of the guide, taskscale.guide/1"),
        written::<Verdicts>(
            "guide-verdicts.schema.json",
            "Verdicts on the guide, taskscale.guide-verdicts/1",
        ),
        checked(written::<Partial>("partial.schema.json", "A partial digest, taskscale.partial/1")),
        read::<Reply>("probe-reply.schema.json", "A line that a probe writes, probe protocol 1"),
        written::<Request>("probe-request.schema.json", "A line that a probe reads, probe protocol 1"),
        checked(written::<Record>("run.schema.json", "A line of a run file, taskscale.run/1")),
        read::<Suite>("suite.schema.json", "A suite, taskscale.suite/1, once its TOML is read"),
        written::<Summary>("summary.schema.json", "The figures of a run, taskscale.summary/1"),
    ]
}

/// What the tool writes: closed, and with all fields that are always written required.
fn written<T: JsonSchema>(file: &'static str, title: &str) -> Contract {
    let mut contract = contract::<T>(file, title, SchemaSettings::draft2020_12().for_serialize());
    close(&mut contract.schema);
    contract
}

/// The same with the check that stands behind the fields of each line.
fn checked(mut contract: Contract) -> Contract {
    contract.schema["properties"][line::FIELD] = json!({
        "description": "CRC-32 (as of zlib) of the bytes of the line up to the comma before this field; absent in files of \
            versions that wrote none.",
        "type": "string",
        "pattern": "^[0-9a-f]{8}$",
    });
    contract
}

/// What the tool reads: as open as its reader.
fn read<T: JsonSchema>(file: &'static str, title: &str) -> Contract {
    contract::<T>(file, title, SchemaSettings::draft2020_12().for_deserialize())
}

fn contract<T: JsonSchema>(file: &'static str, title: &str, settings: SchemaSettings) -> Contract {
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    Contract { file, schema }
}

/// Refuses fields that are not named, in the document and in every value inside it. A definition
/// itself stays open, since its fields may be flattened into another object.
fn close(schema: &mut Value) {
    schema["unevaluatedProperties"] = json!(false);
    inside(schema);
}

/// Closes the values of a schema that is part of an object.
fn inside(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for (key, part) in fields {
        match (key.as_str(), part) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(value),
            ("items" | "additionalProperties", part) => value(part),
            ("prefixItems", Value::Array(items)) => items.iter_mut().for_each(value),
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => parts.iter_mut().for_each(inside),
            ("$defs", Value::Object(definitions)) => definitions.values_mut().for_each(inside),
            _ => {}
        }
    }
}

/// Closes a schema that describes a whole value.
fn value(schema: &mut Value) {
    let describes_objects = ["$ref", "properties", "anyOf", "oneOf", "allOf"];
    if let Value::Object(fields) = schema
        && describes_objects.iter().any(|key| fields.contains_key(*key))
    {
        fields.insert("unevaluatedProperties".into(), json!(false));
    }
    inside(schema);
}

impl JsonSchema for Answer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let integer = json!({"type": "integer", "minimum": 0, "maximum": u64::MAX});
        let text = json!({"type": "string", "pattern": "^\\+?[0-9]{1,20}$"});
        let says = "An unsigned 64-bit check value.";
        match generator.contract().is_deserialize() {
            true => json_schema!({"description": says, "anyOf": [integer, text]}),
            false => {
                json_schema!({"description": says, "type": "integer", "minimum": 0, "maximum": u64::MAX})
            }
        }
    }
}
