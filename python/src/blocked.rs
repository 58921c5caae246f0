//! Steps that held up their loop.

/// A step of at least this counts: the default of `loop.slow_callback_duration`, and what the
/// digest's EVENT_LOOP_BLOCKED means by a slow step.
pub const SLOW_NS: u64 = 100_000_000;
/// Places that are told apart.
const PLACES: usize = 8;

/// Where a loop was held up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Qualified name of the task's coroutine.
    pub coroutine: String,
    /// Name of the function, its file and the line in it; empty and 0 where they are not known.
    pub function: String,
    /// File.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Steps.
    pub steps: u64,
    /// Time in them.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl Place {
    /// Who, and where, in a few words.
    pub fn words(&self) -> String {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        if self.line == 0 {
            self.coroutine.clone()
        } else {
            format!("{} at {file}:{}", self.coroutine, self.line)
        }
    }
}

/// The places that cost most.
#[derive(Debug, Default)]
pub struct Blocked {
    places: Vec<Place>,
}

impl Blocked {
    /// Counts steps at a place. With no room left the place that cost least is replaced, and what
    /// it had is lost.
    pub fn add(&mut self, place: Place) {
        let same = |known: &&mut Place| {
            (known.line, &known.file, &known.coroutine) == (place.line, &place.file, &place.coroutine)
        };
        if let Some(known) = self.places.iter_mut().find(same) {
            known.steps += place.steps;
            known.total_ns += place.total_ns;
            known.max_ns = known.max_ns.max(place.max_ns);
        } else if self.places.len() < PLACES {
            self.places.push(place);
        } else if let Some(least) = self.places.iter_mut().min_by_key(|place| place.total_ns)
            && least.total_ns < place.total_ns
        {
            *least = place;
        }
    }

    /// Costliest first.
    pub fn places(&self) -> Vec<Place> {
        let mut places = self.places.clone();
        places.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then(a.line.cmp(&b.line)));
        places
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.places.clear();
    }
}
