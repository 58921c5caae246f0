//! Steps that held up their loop.

/// Steps of at least this length count. It is the default of `loop.slow_callback_duration`, and the
/// digest's EVENT_LOOP_BLOCKED means such steps.
pub const SLOW_NS: u64 = 100_000_000;
/// The number of places that are told apart.
const PLACES: usize = 8;

/// Where a loop was held up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The qualified name of the task's coroutine.
    pub coroutine: String,
    /// The name of the function; empty if it is not known.
    pub function: String,
    /// Empty if it is not known.
    pub file: String,
    /// The line in the file; 0 if it is not known.
    pub line: u32,
    /// The number of steps.
    pub steps: u64,
    /// The time in them.
    pub total_ns: u64,
    /// The longest step.
    pub max_ns: u64,
}

impl Place {
    /// The coroutine and the place in a few words.
    pub fn words(&self) -> String {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        if self.line == 0 {
            self.coroutine.clone()
        } else {
            format!("{} at {file}:{}", self.coroutine, self.line)
        }
    }
}

/// The costliest places.
#[derive(Debug, Default)]
pub struct Blocked {
    places: Vec<Place>,
}

impl Blocked {
    /// Counts steps at a place. If there is no room left, the place that cost least is replaced and
    /// its figures are lost.
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

    /// The places, costliest first.
    pub fn places(&self) -> Vec<Place> {
        let mut places = self.places.clone();
        places.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then(a.line.cmp(&b.line)));
        places
    }

    pub fn clear(&mut self) {
        self.places.clear();
    }
}
