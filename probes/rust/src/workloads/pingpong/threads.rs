//! Threads: with a channel in each direction, or with the token in memory and a wait for it.

use std::{
    sync::{
        Arc, Barrier, Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::{self, Thread},
};

use serde_json::json;

use super::{affinity, is_one, shares};
use crate::sdk::{Run, Timing, Variant};

pub fn variants() -> Vec<Variant> {
    vec![variant("mpsc", Mpsc::pair), variant("Condvar", Held::pair), variant("park", Parked::pair)]
}

fn variant<E: End>(name: &str, pair: fn() -> (E, E)) -> Variant {
    Variant {
        name: name.to_owned(),
        creates_task: true,
        about: json!({"only": affinity::only()}),
        perform: Box::new(move |run| affinity::on(is_one(run), || perform(run, pair))),
    }
}

fn perform<E: End>(run: &Run, pair: fn() -> (E, E)) -> Timing {
    run.time(|_| {
        let started = shares(run).map(|trips| {
            let (one, other) = pair();
            (thread::spawn(move || pong(other, trips)), thread::spawn(move || ping(one, trips)))
        });
        let started: Vec<_> = started.collect();
        let joined = started.into_iter().map(|(pong, ping)| {
            let back = ping.join().expect("a thread ends");
            pong.join().expect("a thread ends");
            back
        });
        joined.sum()
    })
}

/// One end of a pair, which a thread has.
trait End: Send + 'static {
    /// To be called by the thread, first.
    fn begin(&mut self) {}
    fn pass(&mut self, token: u64);
    fn take(&mut self) -> u64;
}

fn ping(mut end: impl End, trips: u64) -> u64 {
    end.begin();
    let mut back = 0;
    for token in 0..trips {
        end.pass(token);
        back += u64::from(end.take() == token + 1);
    }
    back
}

fn pong(mut end: impl End, trips: u64) {
    end.begin();
    for _ in 0..trips {
        let token = end.take();
        end.pass(token + 1);
    }
}

/// A channel to the other end, and one from there.
struct Mpsc(mpsc::Sender<u64>, mpsc::Receiver<u64>);

impl Mpsc {
    fn pair() -> (Self, Self) {
        let ((to_one, of_one), (to_other, of_other)) = (mpsc::channel(), mpsc::channel());
        (Mpsc(to_other, of_one), Mpsc(to_one, of_other))
    }
}

impl End for Mpsc {
    fn pass(&mut self, token: u64) {
        self.0.send(token).expect("the other end takes it");
    }

    fn take(&mut self) -> u64 {
        self.1.recv().expect("the other end passes it")
    }
}

/// A token under a lock, and what says that it is there.
#[derive(Default)]
struct Place {
    token: Mutex<Option<u64>>,
    is_there: Condvar,
}

/// Where a token is put, and where one is waited for.
struct Held(Arc<Place>, Arc<Place>);

impl Held {
    fn pair() -> (Self, Self) {
        let [one, other] = [(); 2].map(|()| Arc::new(Place::default()));
        (Held(Arc::clone(&other), Arc::clone(&one)), Held(one, other))
    }
}

impl End for Held {
    fn pass(&mut self, token: u64) {
        *self.0.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        self.0.is_there.notify_one();
    }

    fn take(&mut self) -> u64 {
        let mut token = self.1.token.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(token) = token.take() {
                return token;
            }
            token = self.1.is_there.wait(token).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// No token.
const NONE: u64 = u64::MAX;

/// A token for a thread, which parks until it is there.
struct Slot {
    token: AtomicU64,
    thread: OnceLock<Thread>,
}

/// Whom the token is for, who waits for it, and where both make themselves known.
struct Parked(Arc<Slot>, Arc<Slot>, Arc<Barrier>);

impl Parked {
    fn pair() -> (Self, Self) {
        let slot = || Arc::new(Slot { token: AtomicU64::new(NONE), thread: OnceLock::new() });
        let (one, other, known) = (slot(), slot(), Arc::new(Barrier::new(2)));
        (Parked(Arc::clone(&other), Arc::clone(&one), Arc::clone(&known)), Parked(one, other, known))
    }
}

impl End for Parked {
    fn begin(&mut self) {
        self.1.thread.get_or_init(thread::current);
        self.2.wait();
    }

    fn pass(&mut self, token: u64) {
        self.0.token.store(token, Ordering::Release);
        self.0.thread.get().expect("both are known").unpark();
    }

    fn take(&mut self) -> u64 {
        loop {
            match self.1.token.swap(NONE, Ordering::Acquire) {
                NONE => thread::park(),
                token => return token,
            }
        }
    }
}
