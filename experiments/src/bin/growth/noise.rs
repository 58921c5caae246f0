//! Draws noise from real runs.

use fastrand::Rng;

/// The CPU time of processes over the median of their row, by runtime.
pub struct Noise {
    /// The name of each runtime, and its rows.
    families: Vec<(&'static str, Vec<Vec<f64>>)>,
}

impl Noise {
    /// The noise in a file beside this one: of a machine at rest, or of a loaded one.
    pub fn measured(loaded: bool) -> Self {
        Self::of(if loaded { include_str!("residuals-loaded.txt") } else { include_str!("residuals.txt") })
    }

    fn of(file: &'static str) -> Self {
        let mut families: Vec<(&'static str, Vec<Vec<f64>>)> = Vec::new();
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let Some(name) = words.next() else { continue };
            let row = words.map(|word| word.parse().expect("a number")).collect();
            match families.iter_mut().find(|family| family.0 == name) {
                Some(family) => family.1.push(row),
                None => families.push((name, vec![row])),
            }
        }
        Noise { families }
    }

    pub fn families(&self) -> Vec<&'static str> {
        self.families.iter().map(|family| family.0).collect()
    }

    /// A row of the runtime.
    pub fn row(&self, family: usize, rng: &mut Rng) -> usize {
        rng.usize(..self.families[family].1.len())
    }

    /// `processes` residuals of a row, drawn with replacement.
    pub fn draw<'a>(
        &'a self,
        family: usize,
        row: usize,
        processes: usize,
        rng: &'a mut Rng,
    ) -> impl Iterator<Item = f64> + 'a {
        let row = &self.families[family].1[row];
        (0..processes).map(|_| row[rng.usize(..row.len())])
    }
}
