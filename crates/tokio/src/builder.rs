//! [`observe`], which builds an observed runtime and keeps a place for the user's own hooks.

use std::{fmt, io};

use tokio::runtime::{Builder, LocalOptions, LocalRuntime, Runtime};

use crate::live::Live;
#[cfg(tokio_unstable)]
use {crate::seats::Seats, std::sync::Arc, tokio::runtime::TaskMeta};

#[cfg(tokio_unstable)]
type Hook = Arc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;
#[cfg(tokio_unstable)]
type ParkHook = Arc<dyn Fn() + Send + Sync>;

/// A runtime that is being built and will be observed.
#[must_use = "nothing happens before `build`"]
pub struct Observe<'a> {
    builder: &'a mut Builder,
    exact: bool,
    #[cfg(tokio_unstable)]
    before: Option<Hook>,
    #[cfg(tokio_unstable)]
    after: Option<Hook>,
    #[cfg(tokio_unstable)]
    park: Option<ParkHook>,
}

/// Observes the runtime that `builder` describes. [`build`](Observe::build) makes it.
///
/// tokio has one hook of a kind. With `--cfg tokio_unstable` ours take the places of
/// `on_before_task_poll`, `on_after_task_poll` and `on_thread_park`. They replace what the builder
/// had there, and a hook that is set there later replaces ours. Give your own hooks to
/// `Observe::on_before_task_poll`, `Observe::on_after_task_poll` and
/// `Observe::on_thread_park`. All other hooks stay as they are.
///
/// One call observes one runtime. Afterwards the builder has your hooks again, or hooks that do
/// nothing.
pub fn observe(builder: &mut Builder) -> Observe<'_> {
    Observe {
        builder,
        exact: false,
        #[cfg(tokio_unstable)]
        before: None,
        #[cfg(tokio_unstable)]
        after: None,
        #[cfg(tokio_unstable)]
        park: None,
    }
}

impl Observe<'_> {
    /// Calls `hook` before each poll, as [`Builder::on_before_task_poll`] would. The hook's time
    /// does not count as the task's.
    #[cfg(tokio_unstable)]
    pub fn on_before_task_poll(mut self, hook: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> Self {
        self.before = Some(Arc::new(hook));
        self
    }

    /// Calls `hook` after each poll, as [`Builder::on_after_task_poll`] would. The hook's time does
    /// not count as the task's.
    #[cfg(tokio_unstable)]
    pub fn on_after_task_poll(mut self, hook: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> Self {
        self.after = Some(Arc::new(hook));
        self
    }

    /// Calls `hook` before a worker waits, as [`Builder::on_thread_park`] would.
    #[cfg(tokio_unstable)]
    pub fn on_thread_park(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.park = Some(Arc::new(hook));
        self
    }

    /// Times every poll. Without it about one in 16 is timed while polls take less than half a
    /// microsecond each, gap included. The others are counted, and if one of them is long its spawn
    /// line is not known.
    pub fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    /// Asks tokio when each task became ready, so that the digest has the queue delay of the polls
    /// that are timed. tokio then reads the clock twice more for each poll, timed or not, which
    /// takes some 65 ns. The builder goes on asking afterwards.
    #[cfg(all(tokio_unstable, feature = "schedule-latency"))]
    pub fn queue_delays(self) -> Self {
        self.builder.track_task_schedule_latency();
        self
    }

    /// Builds the runtime and its observer, which takes less than 18 KB per worker. The first
    /// observer in a process measures the clock's rate for 2 ms.
    ///
    /// # Errors
    ///
    /// Those of [`Builder::build`].
    pub fn build(self) -> io::Result<(Runtime, Live)> {
        #[cfg(tokio_unstable)]
        {
            let exact = self.exact;
            let (runtime, seats) = self.with_hooks(Builder::build)?;
            let live = Live::of(runtime.handle(), seats, exact);
            Ok((runtime, live))
        }
        #[cfg(not(tokio_unstable))]
        {
            let runtime = self.builder.build()?;
            let live = Live::of(runtime.handle(), self.exact);
            Ok((runtime, live))
        }
    }

    /// Builds a [`LocalRuntime`] and its observer. The tasks of such a runtime need not be `Send`.
    ///
    /// # Errors
    ///
    /// Those of [`Builder::build_local`].
    ///
    /// # Panics
    ///
    /// Like [`Builder::build_local`], if the builder is not one of `new_current_thread`.
    pub fn build_local(self, options: LocalOptions) -> io::Result<(LocalRuntime, Live)> {
        #[cfg(tokio_unstable)]
        {
            let exact = self.exact;
            let (runtime, seats) = self.with_hooks(|builder| builder.build_local(options))?;
            let live = Live::of(runtime.handle(), seats, exact);
            Ok((runtime, live))
        }
        #[cfg(not(tokio_unstable))]
        {
            let runtime = self.builder.build_local(options)?;
            let live = Live::of(runtime.handle(), self.exact);
            Ok((runtime, live))
        }
    }
}

#[cfg(tokio_unstable)]
impl Observe<'_> {
    /// Builds with our hooks inside the user's, so that a poll is timed without the user's. Then it
    /// takes ours away again, because a second runtime from the builder has workers of the same
    /// numbers.
    fn with_hooks<R>(self, build: impl FnOnce(&mut Builder) -> io::Result<R>) -> io::Result<(R, Arc<Seats>)> {
        let Observe { builder, before, after, park, .. } = self;
        let seats = Arc::new(Seats::default());
        let ours = seats.clone();
        match before.clone() {
            None => builder.on_before_task_poll(move |meta| ours.before_poll(|| waited(meta))),
            Some(hook) => builder.on_before_task_poll(move |meta| {
                hook(meta);
                ours.before_poll(|| waited(meta));
            }),
        };
        let ours = seats.clone();
        match after.clone() {
            None => builder.on_after_task_poll(move |meta| ours.after_poll(|| meta.spawned_at())),
            Some(hook) => builder.on_after_task_poll(move |meta| {
                ours.after_poll(|| meta.spawned_at());
                hook(meta);
            }),
        };
        let ours = seats.clone();
        match park.clone() {
            None => builder.on_thread_park(move || ours.before_park()),
            Some(hook) => builder.on_thread_park(move || {
                ours.before_park();
                hook();
            }),
        };
        let built = build(builder);
        match before {
            None => builder.on_before_task_poll(|_| ()),
            Some(hook) => builder.on_before_task_poll(move |meta| hook(meta)),
        };
        match after {
            None => builder.on_after_task_poll(|_| ()),
            Some(hook) => builder.on_after_task_poll(move |meta| hook(meta)),
        };
        match park {
            None => builder.on_thread_park(|| ()),
            Some(hook) => builder.on_thread_park(move || hook()),
        };
        Ok((built?, seats))
    }
}

/// How long the task of this poll has been ready, where tokio was asked.
#[cfg(tokio_unstable)]
#[inline]
fn waited(_meta: &TaskMeta<'_>) -> Option<std::time::Duration> {
    #[cfg(feature = "schedule-latency")]
    return _meta.schedule_latency();
    #[cfg(not(feature = "schedule-latency"))]
    None
}

impl fmt::Debug for Observe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observe").field("builder", &self.builder).finish_non_exhaustive()
    }
}
