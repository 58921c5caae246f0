//! The numbers of spawn locations on one worker, which make the name of a poll cheap.

use std::{
    panic::Location,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use taskscale_live::Worker;

/// The number of locations that a worker tells apart: all 16 numbers that it has, less one for all
/// other locations.
const SITES: u32 = 15;
/// The number of places in the table. There are more places than locations, so a search ends at an
/// empty one.
const PLACES: usize = 16;
/// The name of all other locations.
const OTHERS: &[u8] = b"(other spawn locations)";
/// Bytes of a name that are kept.
const NAME_BYTES: usize = 48;

/// The numbers of locations, in a table with linear probing. An entry holds a location's address
/// from bit 8 on and its number below; 0 is an empty place. Two addresses that differ only in their
/// upper 8 bits would be one location. Only the worker's own thread writes.
#[derive(Debug, Default)]
pub struct Sites {
    places: [AtomicU64; PLACES],
    known: AtomicU32,
}

impl Sites {
    /// The number of a location on this worker. It takes one comparison, or a few for locations
    /// that share a place. The first time a location is seen its name is written.
    #[inline(always)]
    pub fn number(&self, worker: &Worker, location: &'static Location<'static>) -> u32 {
        let key = key(location);
        let place = self.places[first(key)].load(Relaxed);
        if place & !0xff == key { (place & 0xff) as u32 } else { self.other(worker, location, key) }
    }

    #[inline(never)]
    fn other(&self, worker: &Worker, location: &Location<'_>, key: u64) -> u32 {
        for at in 0..PLACES {
            let place = &self.places[(first(key) + at) % PLACES];
            let known = place.load(Relaxed);
            if known & !0xff == key {
                return (known & 0xff) as u32;
            }
            if known == 0 {
                if self.known.load(Relaxed) == SITES {
                    break;
                }
                self.known.fetch_add(1, Relaxed);
                let number = worker.name(&name(location));
                place.store(key | u64::from(number), Relaxed);
                return number;
            }
        }
        worker.name(OTHERS)
    }

    /// Forgets all numbers, as a worker does when it is asked for more names than it has numbers.
    pub fn clear(&self) {
        self.known.store(0, Relaxed);
        self.places.iter().for_each(|place| place.store(0, Relaxed));
    }
}

/// The place where the search for a location begins. Locations take 24 bytes each and lie one
/// behind the other where a file has several.
#[inline(always)]
fn first(key: u64) -> usize {
    (key >> 11) as usize % PLACES
}

fn key(location: &'static Location<'static>) -> u64 {
    (std::ptr::from_ref(location).addr() as u64) << 8
}

/// `file:line`. A long path is cut at its begin, because its end tells more.
fn name(location: &Location<'_>) -> Vec<u8> {
    let line = format!(":{}", location.line());
    let file = location.file().as_bytes();
    let from = file.len().saturating_sub(NAME_BYTES - line.len());
    [&file[from..], line.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use taskscale_live::{Observer, Options};

    use super::*;

    #[track_caller]
    fn here() -> &'static Location<'static> {
        Location::caller()
    }

    #[test]
    fn a_location_keeps_its_number_and_is_named_by_file_and_line() {
        let observer = Observer::new(Options::default());
        let (worker, sites) = (observer.worker(0), Sites::default());
        let locations = [here(), here()];
        assert_eq!(locations.map(|at| sites.number(&worker, at)), [1, 1], "the same line");
        let next = here();
        for _ in 0..3 {
            assert_eq!(sites.number(&worker, next), 2);
            assert_eq!(sites.number(&worker, locations[0]), 1);
        }
        worker.begin();
        worker.end_numbered_at(taskscale_sys::ticks::now(), 2);
        let name = format!("src/sites.rs:{}", next.line());
        assert!(observer.digest().names.top[0].name.ends_with(&name), "{:?}", observer.digest().names);
    }

    #[test]
    fn locations_beyond_the_last_place_are_one() {
        let observer = Observer::new(Options::default());
        let (worker, sites) = (observer.worker(0), Sites::default());
        #[rustfmt::skip]
        let locations = [
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
            here(),
        ];
        for _ in 0..2 {
            let numbers = locations.map(|at| sites.number(&worker, at));
            assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16]);
        }
        worker.begin();
        worker.end_numbered_at(taskscale_sys::ticks::now(), 16);
        assert_eq!(observer.digest().names.top[0].name, "(other spawn locations)");
        sites.clear();
        assert_eq!(
            sites.number(&worker, locations[16]),
            1,
            "the worker begins anew where it has no number left"
        );
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        let name = name(here());
        assert!(name.len() <= NAME_BYTES);
        let name = String::from_utf8(name).expect("a path of this crate");
        assert!(name.contains("src/sites.rs:"), "{name}");
    }
}
