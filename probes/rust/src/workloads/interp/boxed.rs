//! `async` and `async/sync_caller`: an async function at every node. It is recursive, so its future
//! lies in a box. In `async` a builtin is an async function too. What a function pointer returns
//! has one size, so its future is another box. `SYNC_CALLER` calls those that cannot suspend.

use super::{
    machine::{Machine, branch},
    observe::Observe,
    program::{Callee, Node},
    value::{Boxed, Env, Function, Value},
};

impl<O: Observe> Machine<O> {
    pub fn boxed<'a, const SYNC_CALLER: bool>(&'a self, node: &'static Node, env: &'a Env) -> Boxed<'a> {
        Box::pin(self.observer.clone().once(async move {
            let _visit = self.observer.visit();
            match node {
                Node::Leaf(leaf) => leaf.value(env),
                Node::Let { name, value, body } => {
                    let value = self.boxed::<SYNC_CALLER>(value, env).await;
                    self.boxed::<SYNC_CALLER>(body, &self.bind(env, name, value)).await
                }
                Node::If { condition, branches } => {
                    match branch(self.boxed::<SYNC_CALLER>(condition, env).await, branches) {
                        Ok(chosen) => self.boxed::<SYNC_CALLER>(chosen, env).await,
                        Err(error) => error,
                    }
                }
                Node::Bin { function, arguments: both } => {
                    let left = self.boxed::<SYNC_CALLER>(&both[0], env).await;
                    let both = [left, self.boxed::<SYNC_CALLER>(&both[1], env).await];
                    self.boxed_call::<SYNC_CALLER>(function, &both).await
                }
                Node::Call { function, arguments } => {
                    let mut values = Vec::with_capacity(arguments.len());
                    for one in arguments {
                        values.push(self.boxed::<SYNC_CALLER>(one, env).await);
                    }
                    self.boxed_call::<SYNC_CALLER>(function, &values).await
                }
            }
        }))
    }

    async fn boxed_call<const SYNC_CALLER: bool>(
        &self,
        callee: &'static Callee,
        arguments: &[Value],
    ) -> Value {
        match self.callee(callee, arguments) {
            Ok(Function::Sync(function)) if SYNC_CALLER => function(arguments),
            Ok(function) => self.boxed_builtin::<SYNC_CALLER>(function, arguments).await,
            Err(error) => error,
        }
    }

    fn boxed_builtin<'a, const SYNC_CALLER: bool>(
        &'a self,
        function: Function,
        arguments: &'a [Value],
    ) -> Boxed<'a> {
        match function {
            Function::Sync(function) => {
                Box::pin(self.observer.clone().once(async move { function(arguments) }))
            }
            Function::Map => Box::pin(self.observer.clone().once(self.boxed_map::<SYNC_CALLER>(arguments))),
        }
    }

    async fn boxed_map<const SYNC_CALLER: bool>(&self, arguments: &[Value]) -> Value {
        let mapped = match self.mapped(arguments) {
            Ok(mapped) => mapped,
            Err(error) => return error,
        };
        let apply = async |element: &Value| {
            if self.begin(element) {
                self.observer.pause().await;
            }
            let (body, env) = self.application(&mapped, element);
            let value = self.boxed::<SYNC_CALLER>(body, &env).await;
            self.end(element);
            value
        };
        let mut values = Vec::with_capacity(mapped.list.len());
        #[cfg(test)]
        if O::FLAW == super::observe::flaws::TWO_AT_A_TIME {
            for two in mapped.list.chunks(2) {
                values.extend(futures_util::future::join_all(two.iter().map(&apply)).await);
            }
            return Value::listed(values);
        }
        for element in mapped.list.iter() {
            values.push(apply(element).await);
        }
        Value::listed(values)
    }
}
