//! What the evaluators of all variants share.

use std::sync::Arc;

use super::{
    observe::Observe,
    program::{Callee, Node},
    value::{Env, Function, Lambda, Value, first_error, functions},
};

/// An interpreter: which elements suspend, and who watches.
pub struct Machine<O> {
    /// An element that this divides suspends; none where it is 0.
    pub every: i64,
    pub observer: O,
}

/// A list and the lambda that `List::map` applies to its elements.
#[derive(Clone)]
pub struct Mapped {
    pub list: Arc<Vec<Value>>,
    lambda: Arc<Lambda>,
    param: &'static str,
}

impl<O: Observe> Machine<O> {
    /// The function of a call, or the call's value where that is an error.
    #[inline]
    pub fn callee(&self, callee: &'static Callee, arguments: &[Value]) -> Result<Function, Value> {
        if let Some(error) = first_error(arguments) {
            return Err(error);
        }
        self.observer.builtin();
        match callee {
            Callee::Linked(function) => Ok(*function),
            Callee::Name(name) => functions()
                .get(name.as_str())
                .copied()
                .ok_or_else(|| Value::error(format!("no function {name}"))),
        }
    }

    /// The environment with one more name.
    #[inline]
    pub fn bind(&self, env: &Env, name: &'static str, value: Value) -> Env {
        self.observer.extension();
        env.bind(name, value)
    }

    /// The arguments of `List::map`, or its value where that is an error.
    pub fn mapped(&self, arguments: &[Value]) -> Result<Mapped, Value> {
        let [Value::List(list), Value::Lambda(lambda)] = arguments else {
            return Err(Value::error("List::map needs a list and a lambda"));
        };
        let [param] = lambda.params else {
            return Err(Value::error("List::map needs a lambda of one parameter"));
        };
        Ok(Mapped { list: list.clone(), lambda: lambda.clone(), param })
    }

    /// Begins the application to `element`. Returns whether it suspends.
    #[inline]
    pub fn begin(&self, element: &Value) -> bool {
        let Value::Int(element) = element else { return false };
        self.observer.begins(*element);
        self.every != 0 && element % self.every == 0
    }

    /// What the application to `element` evaluates, and where.
    #[inline]
    pub fn application(&self, mapped: &Mapped, element: &Value) -> (&'static Node, Env) {
        (mapped.lambda.body, self.bind(&mapped.lambda.env, mapped.param, element.clone()))
    }

    /// Ends the application to `element`, which has its value.
    #[inline]
    pub fn end(&self, element: &Value) {
        if let Value::Int(element) = element {
            self.observer.has_value(*element);
        }
    }
}

/// The branch that a condition chooses, or the value of the `if` where that is an error.
#[inline]
pub fn branch(condition: Value, branches: &'static [Node; 2]) -> Result<&'static Node, Value> {
    match condition {
        Value::Bool(true) => Ok(&branches[0]),
        Value::Bool(false) => Ok(&branches[1]),
        Value::Error(_) => Err(condition),
        _ => Err(Value::error("a condition must be a boolean")),
    }
}
