//! The Universal Scalability Law of each series: `taskscale_stats::usl`.

use std::collections::BTreeMap;

use fastrand::Rng;
use taskscale_model::{
    missing::Reading,
    run_file::Time,
    suite::ScaleOf,
    summary::{Interval, Peaks, ScaleFit, ScaleLaw},
};
use taskscale_stats::{
    bootstrap::RESAMPLES,
    confidence::CONFIDENCE,
    independent::independent,
    rounds::Timed,
    usl::{self, Intervals, Law},
};

use super::Counted;
use crate::read::Run;

/// The laws of a table whose numbers of workers are those of the machine; else none.
pub fn of(run: &Run, scale: &ScaleOf, series: &[Vec<&Counted<'_>>]) -> Vec<ScaleLaw> {
    let asked = series.iter().filter(|_| scale.to_cpus);
    asked
        .map(|rows| {
            let key = &rows[0].cost.samples.row.key;
            ScaleLaw { runtime: key.runtime.clone(), variant: rows[0].variant.clone(), fit: fit(run, rows) }
        })
        .collect()
}

fn fit(run: &Run, rows: &[&Counted<'_>]) -> Reading<ScaleFit> {
    let Some(&cpus) = run.header.machine.cpus_usable.value() else {
        return Reading::missing(
            "no law is fitted: how many CPUs the run could use is not known",
            "measure on a system that tells it",
        );
    };
    // More workers than CPUs share these, which is no property of the runtime.
    let mut rows: Vec<_> = rows.iter().filter(|row| row.workers <= cpus).collect();
    rows.sort_by_key(|row| row.workers);
    if rows.len() < usl::FEWEST {
        let counts = match rows.len() {
            1 => "1 number".to_owned(),
            n => format!("{n} numbers"),
        };
        let remedy = match cpus < usl::FEWEST as u64 {
            true => format!("measure on a machine with {} or more", usl::FEWEST),
            false => "measure more of them: --param workers=all".to_owned(),
        };
        let of_cpus = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
        return Reading::missing(
            format!("no law is fitted: {counts} of workers on {of_cpus}, and it takes {}", usl::FEWEST),
            remedy,
        );
    }
    let workers: Vec<f64> = rows.iter().map(|row| row.workers as f64).collect();
    let rounds: Vec<Vec<Timed>> =
        rows.iter().map(|row| row.cost.samples.rounds(Time::Wall).collect()).collect();
    let rates = rates(&rounds);
    let Some(law) = usl::of_processes(&workers, &rates) else {
        return Reading::missing(
            "no law is fitted: no round has a time of every number of workers",
            "allow more with --max-time",
        );
    };
    let rng = &mut Rng::with_seed(run.header.seed);
    let intervals = usl::intervals(&workers, &rates, RESAMPLES, CONFIDENCE, rng);
    let measured = rows.last().map_or(0, |row| row.workers);
    Reading::Value(figures(&law, intervals, measured, rates.len() as u64))
}

fn figures(law: &Law, intervals: Option<Intervals>, measured: u64, processes: u64) -> ScaleFit {
    let of = |figure: fn(&Intervals) -> (f64, f64)| {
        intervals.as_ref().map(figure).map(|(low, high)| Interval(low, high))
    };
    let number = |workers: f64| workers.is_finite().then_some(workers);
    ScaleFit {
        per_s: law.lambda,
        per_s_ci: of(|all| all.lambda),
        contention: law.sigma,
        contention_ci: of(|all| all.sigma),
        coherency: law.kappa,
        coherency_ci: of(|all| all.kappa),
        peak: number(law.peak()),
        peak_ci: intervals.map(|all| Peaks { low: number(all.peak.0), high: number(all.peak.1) }),
        measured,
        processes,
    }
}

/// What each number of workers did a second in each process, of the rounds that all have. All are
/// restarted in the same rounds; where one process did them all, each round counts as one.
fn rates(rows: &[Vec<Timed>]) -> Vec<Vec<f64>> {
    let mut by_round: BTreeMap<u64, (u64, Vec<Vec<f64>>)> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate() {
        for timed in row.iter().filter(|timed| timed.value > 0.0) {
            let (_, all) =
                by_round.entry(timed.round).or_insert_with(|| (timed.process, vec![Vec::new(); rows.len()]));
            all[place].push(1e9 / timed.value);
        }
    }
    by_round.retain(|_, (_, all)| all.iter().all(|rates| !rates.is_empty()));
    let processes: Vec<u64> = by_round.values().map(|(process, _)| *process).collect();
    let mean = |rates: &Vec<f64>| rates.iter().sum::<f64>() / rates.len() as f64;
    let columns: Vec<Vec<f64>> = (0..rows.len())
        .map(|place| {
            let of: Vec<f64> = by_round.values().map(|(_, all)| mean(&all[place])).collect();
            independent(&processes, &of)
        })
        .collect();
    let observations = columns.first().map_or(0, Vec::len);
    (0..observations).map(|at| columns.iter().map(|column| column[at]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(values: &[(u64, u64, f64)]) -> Vec<Timed> {
        values.iter().map(|&(round, process, value)| Timed { round, process, value }).collect()
    }

    #[test]
    fn processes_have_the_medians_of_the_rounds_that_all_rows_have() {
        let one = timed(&[(0, 0, 1e9), (1, 0, 5e8), (2, 1, 2.5e8), (3, 1, 1e9)]);
        let two = timed(&[(0, 0, 5e8), (1, 0, 2.5e8), (2, 1, 1.25e8)]);
        assert_eq!(rates(&[one, two]), [[1.5, 3.0], [4.0, 8.0]]);
        let of_one_process = timed(&[(0, 7, 1e9), (1, 7, 5e8)]);
        assert_eq!(rates(&[of_one_process.clone(), of_one_process]), [[1.0, 1.0], [2.0, 2.0]]);
        assert!(rates(&[timed(&[(0, 0, 1.0)]), timed(&[(1, 0, 1.0)])]).is_empty());
    }
}
