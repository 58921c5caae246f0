//! Curves of known growth.

use fastrand::Rng;

use crate::noise::Noise;

/// The known growth of a curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Constant,
    Logarithmic,
    Linear,
    LinearTimesLog,
    /// A working set that leaves a cache.
    Cache,
    /// A collector that walks a growing heap.
    Collector,
    /// Quadratic growth from a bend with at least three octaves behind it.
    Quadratic,
    /// Quadratic growth with one to three octaves behind the bend. It counts neither as missed nor
    /// as a false alarm.
    LateQuadratic,
}

impl Class {
    pub const ALL: [Class; 8] = [
        Class::Constant,
        Class::Logarithmic,
        Class::Linear,
        Class::LinearTimesLog,
        Class::Cache,
        Class::Collector,
        Class::Quadratic,
        Class::LateQuadratic,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Class::Constant => "constant",
            Class::Logarithmic => "logarithmic",
            Class::Linear => "linear",
            Class::LinearTimesLog => "n log n",
            Class::Cache => "soft: cache",
            Class::Collector => "soft: collector",
            Class::Quadratic => "quadratic from a bend",
            Class::LateQuadratic => "bend in the last 1 to 3 octaves",
        }
    }
}

/// One size of a series.
pub struct Size {
    pub size: u64,
    /// The cost of each process.
    pub totals: Vec<f64>,
    /// The cost without the noise of a process.
    cost: f64,
    /// The row of real processes that its noise is drawn from.
    row: usize,
}

/// One synthetic series.
pub struct Synthetic {
    pub sizes: Vec<Size>,
    /// The size at which it bends, if it does.
    pub bend: Option<f64>,
    pub family: usize,
    /// The cost of a size, without any noise.
    cost: Box<dyn Fn(f64) -> f64>,
}

impl Synthetic {
    /// Measures a size with so many processes; a size that was measured before gets them on top.
    pub fn measure(&mut self, size: u64, processes: usize, noise: &Noise, rng: &mut Rng) {
        let known = self.sizes.iter().position(|known| known.size == size);
        let place = known.unwrap_or_else(|| {
            let cost = (DRIFT * normal(rng)).exp() * (self.cost)(size as f64);
            let row = noise.row(self.family, rng);
            self.sizes.push(Size { size, totals: Vec::new(), cost, row });
            self.sizes.len() - 1
        });
        let Size { totals, cost, row, .. } = &mut self.sizes[place];
        totals.extend(noise.draw(self.family, *row, processes, rng).map(|residual| *cost * residual));
    }
}

/// The standard deviation of the noise that all rounds of one size share, because sizes are
/// measured one after the other. It comes beside the noise of each round. Repeated runs had medians
/// 0.8 % apart; a little over twice that is assumed.
const DRIFT: f64 = 0.02;

/// Draws a series. It has 6 to 12 sizes that double (one series in four: 5 to 7 that quadruple)
/// from 64, 250 or 1,000 on. The smallest size has 5 to 20 rounds, the largest down to half as many
/// but never fewer than 5. The fixed cost is 0 to 4 times that of the tasks at the smallest size.
pub fn draw(class: Class, noise: &Noise, rng: &mut Rng) -> Synthetic {
    let first = [64.0, 250.0, 1000.0][rng.usize(..3)];
    let (factor, count) =
        if rng.usize(..4) == 0 { (4.0, rng.usize(5..8)) } else { (2.0_f64, rng.usize(6..13)) };
    let sizes: Vec<f64> = (0..count).map(|k| first * factor.powi(k as i32)).collect();
    let last = first * factor.powi(count as i32 - 1);
    let between = |rng: &mut Rng, low: f64, high: f64| low * (high / low).powf(rng.f64());
    let fixed = first * 4.0 * rng.f64().powi(2);
    let mut bend = None;
    let cost: Box<dyn Fn(f64) -> f64> = match class {
        Class::Constant => Box::new(|_| 1000.0),
        Class::Logarithmic => Box::new(|n| 100.0 * n.log2()),
        Class::Linear => Box::new(|n| n),
        Class::LinearTimesLog => Box::new(|n| n * n.log2() / 10.0),
        Class::Cache => {
            // The cost rises to 1.3 to 5 times by a logistic curve, which takes 1.5 to 6 octaves
            // from 10 to 90 %.
            let (more, from) = (between(rng, 0.3, 4.0), between(rng, first, last));
            let steep = 4.4 / between(rng, 1.5, 6.0);
            Box::new(move |n| n * (1.0 + more / (1.0 + (-steep * (n / from).log2()).exp())))
        }
        Class::Collector => {
            // Every doubling of the heap adds 0.05 to 0.8 times the cost, in steps and partly
            // within the octave.
            let (more, from) = (between(rng, 0.05, 0.8), between(rng, first, last));
            let smooth = rng.f64();
            Box::new(move |n| {
                let octaves = (n / from).log2().max(0.0);
                n * (1.0 + more * (smooth * octaves + (1.0 - smooth) * octaves.floor()))
            })
        }
        Class::Quadratic | Class::LateQuadratic => {
            let at = match class {
                Class::Quadratic => between(rng, first, (last / 8.0).max(first)),
                _ => last / between(rng, 2.0, 8.0),
            };
            bend = Some(at);
            if rng.bool() {
                Box::new(move |n| n * (n / at).max(1.0))
            } else {
                Box::new(move |n| n + n * n / at)
            }
        }
    };
    let family = rng.usize(..noise.families().len());
    let most = rng.usize(5..21);
    let cost = Box::new(move |n| fixed + cost(n));
    let mut series = Synthetic { sizes: Vec::new(), bend, family, cost };
    for (place, &n) in sizes.iter().enumerate() {
        let fewer = most as f64 * 0.5 * place as f64 / (count - 1) as f64;
        series.measure(n as u64, (most - fewer as usize).max(5), noise, rng);
    }
    series
}

/// A standard normal value (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}
