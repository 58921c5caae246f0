//! `sync`: plain recursion, which cannot suspend. An element that would yields its thread in place.

use std::thread;

use super::{
    machine::{Machine, branch},
    observe::Observe,
    program::{Callee, Node},
    value::{Env, Function, Value},
};

impl<O: Observe> Machine<O> {
    pub fn sync(&self, node: &'static Node, env: &Env) -> Value {
        let _visit = self.observer.visit();
        match node {
            Node::Leaf(leaf) => leaf.value(env),
            Node::Let { name, value, body } => {
                let value = self.sync(value, env);
                self.sync(body, &self.bind(env, name, value))
            }
            Node::If { condition, branches } => match branch(self.sync(condition, env), branches) {
                Ok(chosen) => self.sync(chosen, env),
                Err(error) => error,
            },
            Node::Bin { function, arguments: both } => {
                let left = self.sync(&both[0], env);
                self.sync_call(function, &[left, self.sync(&both[1], env)])
            }
            Node::Call { function, arguments } => {
                let arguments: Vec<Value> = arguments.iter().map(|one| self.sync(one, env)).collect();
                self.sync_call(function, &arguments)
            }
        }
    }

    #[inline]
    fn sync_call(&self, callee: &'static Callee, arguments: &[Value]) -> Value {
        match self.callee(callee, arguments) {
            Ok(Function::Sync(function)) => function(arguments),
            Ok(Function::Map) => self.sync_map(arguments),
            Err(error) => error,
        }
    }

    fn sync_map(&self, arguments: &[Value]) -> Value {
        let mapped = match self.mapped(arguments) {
            Ok(mapped) => mapped,
            Err(error) => return error,
        };
        let mut values = Vec::with_capacity(mapped.list.len());
        for element in mapped.list.iter() {
            if self.begin(element) {
                thread::yield_now();
                self.observer.suspended();
            }
            let (body, env) = self.application(&mapped, element);
            values.push(self.sync(body, &env));
            self.end(element);
        }
        Value::listed(values)
    }
}
