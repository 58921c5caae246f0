//! Values, the environment, and the builtins that cannot suspend.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, LazyLock, Mutex},
};

use serde::ser::{Error as _, Serialize, Serializer};

use super::program::Node;

/// A future on the heap.
pub type Boxed<'a> = Pin<Box<dyn Future<Output = Value> + Send + 'a>>;

/// A value of the program. All variants have the same, with atomic counts of references, since
/// tasks may move between threads.
#[derive(Clone)]
pub enum Value {
    Int(i64),
    Str(Arc<str>),
    Bool(bool),
    List(Arc<Vec<Value>>),
    Lambda(Arc<Lambda>),
    Error(Arc<str>),
    /// Of the variant `hidden` alone: what gives the value, to be taken once.
    Pending(Arc<Mutex<Option<Boxed<'static>>>>),
}

/// A function of the program with the environment in which it was written.
pub struct Lambda {
    pub env: Env,
    pub params: &'static [String],
    pub body: &'static Node,
}

/// A persistent linked list of names and values.
#[derive(Clone, Default)]
pub struct Env(Option<Arc<Cell>>);

struct Cell {
    name: &'static str,
    value: Value,
    rest: Env,
}

impl Env {
    /// This environment with one more cell in front.
    #[inline]
    pub fn bind(&self, name: &'static str, value: Value) -> Env {
        Env(Some(Arc::new(Cell { name, value, rest: self.clone() })))
    }

    /// The value that was bound last under `name`.
    #[inline]
    pub fn find(&self, name: &str) -> Value {
        let mut env = self;
        while let Some(cell) = &env.0 {
            if cell.name == name {
                return cell.value.clone();
            }
            env = &cell.rest;
        }
        Value::error(format!("no variable {name}"))
    }
}

impl Value {
    pub fn error(text: impl Into<Arc<str>>) -> Value {
        Value::Error(text.into())
    }

    /// The list of these values, or the first error among them.
    pub fn listed(values: Vec<Value>) -> Value {
        first_error(&values).unwrap_or_else(|| Value::List(Arc::new(values)))
    }
}

/// The first error among these values.
#[inline]
pub fn first_error(values: &[Value]) -> Option<Value> {
    values.iter().find(|value| matches!(value, Value::Error(_))).cloned()
}

/// A builtin.
#[derive(Clone, Copy)]
pub enum Function {
    /// It cannot suspend.
    Sync(fn(&[Value]) -> Value),
    /// `List::map`, which may. Every evaluator has its own.
    Map,
}

/// The builtins by name.
pub fn functions() -> &'static HashMap<&'static str, Function> {
    static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> = LazyLock::new(|| {
        HashMap::from([
            ("Int::range", Function::Sync(range)),
            ("Int::%", Function::Sync(remainder)),
            ("Int::==", Function::Sync(equal)),
            ("Int::toString", Function::Sync(to_string)),
            ("List::map", Function::Map),
        ])
    });
    &FUNCTIONS
}

fn range(arguments: &[Value]) -> Value {
    match arguments {
        [Value::Int(first), Value::Int(last)] => {
            Value::List(Arc::new((*first..=*last).map(Value::Int).collect()))
        }
        _ => Value::error("Int::range needs two integers"),
    }
}

fn remainder(arguments: &[Value]) -> Value {
    match arguments {
        [Value::Int(_), Value::Int(0)] => Value::Int(0),
        [Value::Int(left), Value::Int(right)] => Value::Int(left.wrapping_rem(*right)),
        _ => Value::error("Int::% needs two integers"),
    }
}

fn equal(arguments: &[Value]) -> Value {
    match arguments {
        [Value::Int(left), Value::Int(right)] => Value::Bool(left == right),
        _ => Value::error("Int::== needs two integers"),
    }
}

fn to_string(arguments: &[Value]) -> Value {
    match arguments {
        [Value::Int(integer)] => Value::Str(integer.to_string().into()),
        _ => Value::error("Int::toString needs an integer"),
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Int(integer) => to.serialize_i64(*integer),
            Value::Str(text) => to.serialize_str(text),
            Value::Bool(flag) => to.serialize_bool(*flag),
            Value::List(values) => to.collect_seq(values.iter()),
            Value::Error(text) => Err(S::Error::custom(format!("an error: {text}"))),
            Value::Lambda(_) => Err(S::Error::custom("a lambda")),
            Value::Pending(_) => Err(S::Error::custom("a pending value")),
        }
    }
}
