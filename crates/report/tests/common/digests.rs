//! Made-up digests.

use taskscale_model::{
    digest::*,
    missing::Reading,
    span::{Account, Dropped},
};

fn quantiles(scale: u64) -> Quantiles {
    Quantiles {
        count: 9,
        min: scale,
        p50: 2 * scale,
        p90: 3 * scale,
        p99: 4 * scale,
        max: 300 * scale,
        mean: 2.5,
    }
}

fn classes(scale: u64) -> Vec<TimeClass> {
    [1, 2, 4]
        .map(|times| TimeClass {
            from_ns: 1_000 * scale * times,
            to_ns: 2_000 * scale * times,
            count: (3 * scale / times).max(1),
            total_ns: 4_000 * scale,
        })
        .into()
}

/// A digest in which `name` stands wherever a source gives a text, `many` times in each list.
pub fn digest(name: &str, many: usize, scale: u64) -> Digest {
    let pattern = |which, gain: f64| Pattern {
        name: which,
        share: 0.42,
        evidence: format!("{name:?} takes 300 ms, 150 times the median, and others wait for it"),
        remedy: format!("split {name} into 16 pieces, or start it first where it cannot be split"),
        change: None,
        predicted: Speedup { from: 1.0, to: gain },
        bound: gain,
        shortens_tasks: false,
        tasks: (0..many.min(3)).map(|_| TaskShare { name: name.into(), share: 0.3 }).collect(),
        threads: (0..many.min(3) as u32)
            .map(|worker| ThreadShare { worker, thread: Some(name.into()), share: 0.3 })
            .collect(),
        when: (0..many.min(3) as u64)
            .map(|at| TimeRange {
                from_ns: at * scale * 1_000_000,
                to_ns: (at * scale + 1) * 1_000_000,
                share: 0.3,
            })
            .collect(),
        all_along: false,
    };
    Digest {
        schema: SCHEMA.into(),
        tasks: 201 * scale,
        workers: 4 * scale,
        window_ns: 400_000_000 * scale,
        clock_resolution_ns: scale,
        losses: Losses { work: 0.5, dispatch: 0.03, serial: 0.42, tail: 0.05, ..Losses::default() },
        unknown: 0.0,
        duration: Reading::Value(quantiles(1_000 * scale)),
        gap: Reading::missing(name, name),
        scheduling_cost_ns: Reading::Value(812.0 * scale as f64),
        break_even_ns: Reading::Value(7_308.0 * scale as f64),
        queue: Reading::Value(Queue {
            delay: quantiles(400 * scale),
            known: 0.95,
            shares: Reading::Value(QueueShares { starved: 0.31, dispatch: 0.02, saturated: 0.12 }),
        }),
        histograms: Histograms { duration: classes(scale), gap: Vec::new(), queue_delay: classes(7 * scale) },
        off_cpu: Reading::Value(OffCpu { share: 0.21, parents: 0.11, known: 0.9 }),
        parallelism: Parallelism {
            mean: 2.0,
            peak: 4.0,
            step_ns: scale,
            timeline: (0..many.max(20)).map(|i| (i % 5) as f64).collect(),
            histogram: (0..many as u64).map(|n| Level { from: n, to: n * scale, share: 0.05 }).collect(),
        },
        workers_detail: WorkersDetail {
            active: 4,
            busy_max_over_mean: 1.9,
            busy_variation: 0.5,
            workers: (0..many as u32)
                .map(|worker| WorkerDetail {
                    worker,
                    thread: Some(name.into()),
                    tasks: scale,
                    busy: 0.5,
                    first_ns: 0,
                    last_ns: scale,
                })
                .collect(),
            folded: scale - 1,
            by_busy: vec![0, scale, 0, 3 * scale, 0, 0, 0, 0, 0, 0],
        },
        outliers: (0..many)
            .map(|_| Outlier {
                name: name.into(),
                worker: 3,
                thread: Some(name.into()),
                start_ns: scale,
                duration_ns: 300_000_000,
                times_typical: 150.0 * scale as f64,
            })
            .collect(),
        names: Names {
            top: (0..many)
                .map(|_| NameCost {
                    name: name.into(),
                    tasks: scale,
                    total_ns: scale,
                    own_ns: scale,
                    share: 0.1,
                })
                .collect(),
            ..Names::default()
        },
        nesting: Nesting {
            nested: many as u64,
            depth: 2,
            parent_self: Reading::Value(0.1),
            naive_utilisation: 1.5,
            overlapping: 0,
        },
        dropped: Account {
            dropped: (0..many).map(|_| Dropped { reason: name.into(), events: scale }).collect(),
            ..Account::default()
        },
        patterns: (0..many.max(2))
            .map(|i| {
                pattern(if i == 0 { PatternName::StragglerTasks } else { PatternName::LoadImbalance }, 1.7)
            })
            .collect(),
        alternative: Some(Alternative {
            name: PatternName::UnderDecomposition,
            tell: "if all tasks are as long, split each of them".into(),
        }),
        confidence: Confidence {
            grade: ConfidenceGrade::Medium,
            margin: 0.5,
            reasons: (0..many).map(|_| format!("only {name}")).collect(),
        },
        notes: (0..many).map(|_| name.to_owned()).collect(),
    }
}
