//! `task`: every node is a task of the scheduler, and its parent awaits the handle.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{
    machine::{Machine, branch},
    observe::Observe,
    program::{Callee, Node},
    value::{Env, Function, Value},
};

impl<O: Observe> Machine<O> {
    /// Evaluates `node` in a task of its own.
    pub async fn task(self: &Arc<Self>, node: &'static Node, env: Env) -> Value {
        let handle = self.spawned(node, env);
        // Nobody aborts the task. If it panicked, passing the panic on is right.
        let value = handle.await.expect("a task that nobody aborts gives its result");
        self.observer.taken();
        value
    }

    fn spawned(self: &Arc<Self>, node: &'static Node, env: Env) -> JoinHandle<Value> {
        self.observer.made();
        let me = Arc::clone(self);
        tokio::spawn(async move {
            let _visit = me.observer.visit();
            match node {
                Node::Leaf(leaf) => leaf.value(&env),
                Node::Let { name, value, body } => {
                    let value = me.task(value, env.clone()).await;
                    me.task(body, me.bind(&env, name, value)).await
                }
                Node::If { condition, branches } => {
                    match branch(me.task(condition, env.clone()).await, branches) {
                        Ok(chosen) => me.task(chosen, env).await,
                        Err(error) => error,
                    }
                }
                Node::Bin { function, arguments: both } => {
                    let left = me.task(&both[0], env.clone()).await;
                    let both = [left, me.task(&both[1], env).await];
                    me.task_call(function, &both).await
                }
                Node::Call { function, arguments } => {
                    let mut values = Vec::with_capacity(arguments.len());
                    for one in arguments {
                        values.push(me.task(one, env.clone()).await);
                    }
                    me.task_call(function, &values).await
                }
            }
        })
    }

    async fn task_call(self: &Arc<Self>, callee: &'static Callee, arguments: &[Value]) -> Value {
        match self.callee(callee, arguments) {
            Ok(Function::Sync(function)) => function(arguments),
            Ok(Function::Map) => self.task_map(arguments).await,
            Err(error) => error,
        }
    }

    async fn task_map(self: &Arc<Self>, arguments: &[Value]) -> Value {
        let mapped = match self.mapped(arguments) {
            Ok(mapped) => mapped,
            Err(error) => return error,
        };
        let mut values = Vec::with_capacity(mapped.list.len());
        for element in mapped.list.iter() {
            if self.begin(element) {
                self.observer.pause().await;
            }
            let (body, env) = self.application(&mapped, element);
            values.push(self.task(body, env).await);
            self.end(element);
        }
        Value::listed(values)
    }
}
