//! The programs: the one that all languages share, and nested lets of any depth. Each is made once
//! per process, outside the timed part, and kept.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use serde_json::Value as Json;

use super::value::{Env, Function, Lambda, Value, functions};

/// `probes/interp/program.json`, which lies outside the sources that the `taskscale` binary has.
pub const PROGRAM: &str = concat!(
    r#"["let","range",["call","Int::range",[["int",1],["int",100]]],"#,
    r#"["call","List::map",[["var","range"],["lambda",["i"],"#,
    r#"["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],"#,
    r#"["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],"#,
    r#"["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],"#,
    r#"["call","Int::toString",[["var","i"]]]]]]]]]]"#,
);

/// A node of the tree.
pub enum Node {
    Leaf(Leaf),
    Let { name: String, value: Box<Node>, body: Box<Node> },
    Bin { function: Callee, arguments: Box<[Node; 2]> },
    Call { function: Callee, arguments: Vec<Node> },
    If { condition: Box<Node>, branches: Box<[Node; 2]> },
}

/// A node without nodes that are evaluated with it.
pub enum Leaf {
    Int(i64),
    Str(Arc<str>),
    Var(String),
    Lambda { params: Vec<String>, body: Box<Node> },
}

/// How a call names its function.
pub enum Callee {
    /// It is looked up at each call.
    Name(String),
    /// It was looked up after parsing.
    Linked(Function),
}

impl Leaf {
    /// Its value. Only a variable can give an error.
    #[inline]
    pub fn value(&'static self, env: &Env) -> Value {
        match self {
            Leaf::Int(integer) => Value::Int(*integer),
            Leaf::Str(text) => Value::Str(Arc::clone(text)),
            Leaf::Var(name) => env.find(name),
            Leaf::Lambda { params, body } => {
                Value::Lambda(Arc::new(Lambda { env: env.clone(), params, body }))
            }
        }
    }
}

/// The shared program, or `depth` nested lets where that is above zero. With `linked` the tree
/// holds the functions.
pub fn program(depth: u64, linked: bool) -> Result<&'static Node, String> {
    static MADE: LazyLock<Mutex<HashMap<(u64, bool), &'static Node>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(node) = made.get(&(depth, linked)) {
        return Ok(node);
    }
    let node: &'static Node = Box::leak(Box::new(match depth {
        0 => parse(PROGRAM, linked)?,
        _ => nested(depth),
    }));
    made.insert((depth, linked), node);
    Ok(node)
}

/// Reads a program in JSON.
pub fn parse(text: &str, linked: bool) -> Result<Node, String> {
    let json: Json = serde_json::from_str(text).map_err(|why| format!("the program is not JSON: {why}"))?;
    node(&json, linked)
}

fn node(json: &Json, linked: bool) -> Result<Node, String> {
    let wrong = || format!("no node of a program: {json}");
    let parts = json.as_array().ok_or_else(wrong)?;
    let [kind, parts @ ..] = parts.as_slice() else { return Err(wrong()) };
    let of = |json: &Json| node(json, linked);
    let boxed = |json: &Json| of(json).map(Box::new);
    let word = |json: &Json| json.as_str().map(str::to_owned).ok_or_else(wrong);
    let callee = |json: &Json| {
        let name = word(json)?;
        let function = if linked { functions().get(name.as_str()) } else { None };
        Ok::<_, String>(function.map_or(Callee::Name(name), |function| Callee::Linked(*function)))
    };
    Ok(match (kind.as_str().ok_or_else(wrong)?, parts) {
        ("int", [integer]) => Node::Leaf(Leaf::Int(integer.as_i64().ok_or_else(wrong)?)),
        ("str", [text]) => Node::Leaf(Leaf::Str(word(text)?.into())),
        ("var", [name]) => Node::Leaf(Leaf::Var(word(name)?)),
        ("lambda", [Json::Array(params), body]) => Node::Leaf(Leaf::Lambda {
            params: params.iter().map(word).collect::<Result<_, _>>()?,
            body: boxed(body)?,
        }),
        ("let", [name, value, body]) => {
            Node::Let { name: word(name)?, value: boxed(value)?, body: boxed(body)? }
        }
        ("bin", [name, left, right]) => {
            Node::Bin { function: callee(name)?, arguments: Box::new([of(left)?, of(right)?]) }
        }
        ("call", [name, Json::Array(arguments)]) => Node::Call {
            function: callee(name)?,
            arguments: arguments.iter().map(of).collect::<Result<_, _>>()?,
        },
        ("if", [condition, then, otherwise]) => {
            Node::If { condition: boxed(condition)?, branches: Box::new([of(then)?, of(otherwise)?]) }
        }
        _ => return Err(wrong()),
    })
}

/// `let x0 = 1 in let x1 = x0 in .. x_last`, made from the inside out, as its reader would recurse.
fn nested(depth: u64) -> Node {
    let var = |i| Node::Leaf(Leaf::Var(format!("x{i}")));
    (0..depth).rev().fold(var(depth - 1), |body, i| {
        let value = if i == 0 { Node::Leaf(Leaf::Int(1)) } else { var(i - 1) };
        Node::Let { name: format!("x{i}"), value: Box::new(value), body: Box::new(body) }
    })
}
