//! `union` and `hidden`: a result is there or pending, and what follows is chained only where it is
//! pending. The two differ in where that is said: in a type of its own, or in the value.

use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
use super::observe::flaws;
use super::{
    machine::{Machine, Mapped, branch},
    observe::Observe,
    program::{Callee, Node},
    value::{Boxed, Env, Function, Value},
};

/// A result that is there or pending.
pub trait Maybe: Send + Sized + 'static {
    fn ready(value: Value) -> Self;
    fn pending(future: Boxed<'static>) -> Self;
    /// The value, or what gives it. The latter is gone where it was taken before.
    fn split(self) -> Result<Value, Option<Boxed<'static>>>;
    /// Another handle on the same pending result, where a program could have one.
    #[cfg(test)]
    fn twin(&self) -> Option<Self> {
        None
    }
}

/// `union`: a type of its own.
pub enum Union {
    Ready(Value),
    Pending(Boxed<'static>),
}

impl Maybe for Union {
    #[inline]
    fn ready(value: Value) -> Self {
        Union::Ready(value)
    }

    fn pending(future: Boxed<'static>) -> Self {
        Union::Pending(future)
    }

    #[inline]
    fn split(self) -> Result<Value, Option<Boxed<'static>>> {
        match self {
            Union::Ready(value) => Ok(value),
            Union::Pending(future) => Err(Some(future)),
        }
    }
}

/// `hidden`: a kind of value.
impl Maybe for Value {
    #[inline]
    fn ready(value: Value) -> Self {
        value
    }

    fn pending(future: Boxed<'static>) -> Self {
        Value::Pending(Arc::new(Mutex::new(Some(future))))
    }

    #[inline]
    fn split(self) -> Result<Value, Option<Boxed<'static>>> {
        match self {
            Value::Pending(future) => Err(future.lock().unwrap_or_else(PoisonError::into_inner).take()),
            value => Ok(value),
        }
    }

    #[cfg(test)]
    fn twin(&self) -> Option<Self> {
        matches!(self, Value::Pending(_)).then(|| self.clone())
    }
}

impl<O: Observe> Machine<O> {
    pub fn maybe<M: Maybe>(self: &Arc<Self>, node: &'static Node, env: &Env) -> M {
        let visit = self.observer.visit();
        let result: M = match node {
            Node::Leaf(leaf) => M::ready(leaf.value(env)),
            Node::Let { name, value, body } => {
                self.then(self.maybe::<M>(value, env), env, move |me, env, value| {
                    me.maybe(body, &me.bind(env, name, value))
                })
            }
            Node::If { condition, branches } => {
                self.then(self.maybe::<M>(condition, env), env, move |me, env, condition| {
                    match branch(condition, branches) {
                        Ok(chosen) => me.maybe(chosen, env),
                        Err(error) => M::ready(error),
                    }
                })
            }
            Node::Bin { function, arguments: both } => {
                self.then(self.maybe::<M>(&both[0], env), env, move |me, env, left| {
                    me.then(me.maybe::<M>(&both[1], env), env, move |me, _, right| {
                        me.maybe_call(function, &[left, right])
                    })
                })
            }
            Node::Call { function, arguments } => self.maybe_arguments(function, arguments, env),
        };
        if O::COUNTS { self.held(visit, result) } else { result }
    }

    /// What `next` makes of the value of `first`: at once, or when it is there.
    #[inline]
    fn then<M: Maybe>(
        self: &Arc<Self>,
        first: M,
        env: &Env,
        next: impl FnOnce(&Arc<Self>, &Env, Value) -> M + Send + 'static,
    ) -> M {
        match first.split() {
            Ok(value) => next(self, env, value),
            Err(future) => {
                let (me, env) = (Arc::clone(self), env.clone());
                self.later(async move {
                    let value = me.gone(future).await;
                    let result = next(&me, &env, value);
                    me.value(result).await
                })
            }
        }
    }

    /// A pending result.
    fn later<M: Maybe>(&self, future: impl Future<Output = Value> + Send + 'static) -> M {
        M::pending(Box::pin(self.observer.clone().once(future)))
    }

    /// The value of a result, awaited where it is pending.
    pub async fn value<M: Maybe>(&self, result: M) -> Value {
        match result.split() {
            Ok(value) => value,
            Err(future) => self.gone(future).await,
        }
    }

    async fn gone(&self, future: Option<Boxed<'static>>) -> Value {
        match future {
            Some(future) => future.await,
            None => {
                self.observer.taken_again();
                Value::error("a pending value was used twice")
            }
        }
    }

    /// Keeps `visit` until `result` is there.
    fn held<M: Maybe>(self: &Arc<Self>, visit: O::Visit, result: M) -> M {
        match result.split() {
            Ok(value) => M::ready(value),
            Err(future) => {
                let me = Arc::clone(self);
                M::pending(Box::pin(async move {
                    let value = me.gone(future).await;
                    drop(visit);
                    value
                }))
            }
        }
    }

    fn maybe_arguments<M: Maybe>(
        self: &Arc<Self>,
        callee: &'static Callee,
        nodes: &'static [Node],
        env: &Env,
    ) -> M {
        let mut values = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            match self.maybe::<M>(node, env).split() {
                Ok(value) => values.push(value),
                Err(future) => {
                    let (me, env) = (Arc::clone(self), env.clone());
                    return self.later(async move {
                        values.push(me.gone(future).await);
                        for node in &nodes[index + 1..] {
                            let result: M = me.maybe(node, &env);
                            values.push(me.value(result).await);
                        }
                        let result: M = me.maybe_call(callee, &values);
                        me.value(result).await
                    });
                }
            }
        }
        self.maybe_call(callee, &values)
    }

    #[inline]
    fn maybe_call<M: Maybe>(self: &Arc<Self>, callee: &'static Callee, arguments: &[Value]) -> M {
        match self.callee(callee, arguments) {
            Ok(Function::Sync(function)) => M::ready(function(arguments)),
            Ok(Function::Map) => match self.mapped(arguments) {
                Ok(mapped) => self.maybe_map(mapped),
                Err(error) => M::ready(error),
            },
            Err(error) => M::ready(error),
        }
    }

    fn maybe_map<M: Maybe>(self: &Arc<Self>, mapped: Mapped) -> M {
        let mut values = Vec::with_capacity(mapped.list.len());
        for (index, element) in mapped.list.iter().enumerate() {
            match self.maybe_apply::<M>(&mapped, element).split() {
                Ok(value) => {
                    values.push(value);
                    self.end(element);
                }
                Err(future) => {
                    let me = Arc::clone(self);
                    let mapped = mapped.clone();
                    return self.later(async move {
                        values.push(me.gone(future).await);
                        me.end(&mapped.list[index]);
                        for element in &mapped.list[index + 1..] {
                            let result: M = me.maybe_apply(&mapped, element);
                            #[cfg(test)]
                            let twin = (O::FLAW == flaws::USED_TWICE).then(|| result.twin()).flatten();
                            values.push(me.value(result).await);
                            #[cfg(test)]
                            if let Some(twin) = twin {
                                me.value(twin).await;
                            }
                            me.end(element);
                        }
                        Value::listed(values)
                    });
                }
            }
        }
        M::ready(Value::listed(values))
    }

    fn maybe_apply<M: Maybe>(self: &Arc<Self>, mapped: &Mapped, element: &Value) -> M {
        let suspends = self.begin(element);
        let (body, env) = self.application(mapped, element);
        if !suspends {
            return self.maybe(body, &env);
        }
        let me = Arc::clone(self);
        #[cfg(test)]
        let again = (O::FLAW == flaws::SWALLOWED).then(|| env.clone());
        let result = self.later(async move {
            me.observer.pause().await;
            let result: M = me.maybe(body, &env);
            me.value(result).await
        });
        #[cfg(test)]
        if let Some(env) = again {
            drop(result);
            return self.maybe(body, &env);
        }
        result
    }
}
