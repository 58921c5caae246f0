//! Whether a probe's clocks can be believed: on a long sample, and where the work is repeated.

use taskscale_analysis::told::Wrong;
use taskscale_model::{
    bytes,
    params::Params,
    protocol::{Description, RunRequest, Variant, Workload},
};

use super::{Checker, cases, sizes::largest};
use crate::{
    calibrate::{self, Pilot},
    fault::Fault,
    judge::Judge,
    link::Observed,
};

/// How often the check tries whether four times the iterations take longer. libgomp changed between
/// 30 and 490 ns per task from one sample to the next: one check in four failed at the first
/// attempt. A lie fails at every attempt.
const ATTEMPTS: usize = 6;

/// The most by which attempts lengthen the samples of the first. Each doubles them up to here. A
/// thread of libgomp that waits for one without a processor spins for whole time slices: samples of
/// 16 ms used 84 ms of CPU time on a busy machine, three times in a row.
const LENGTHENED: u64 = 8;

/// The attempts for code that is compiled while it runs: a JVM still fell by a factor of four after
/// a second.
const ATTEMPTS_JIT: usize = 30;

impl Checker<'_> {
    /// Checks that clocks are believable on a long sample, and that four times the iterations take
    /// at least twice the CPU time.
    pub(super) fn clocks(&mut self, description: &Description) {
        for workload in &description.workloads {
            for variant in workload.variants.iter().filter(|variant| variant.unavailable.is_none()) {
                let subject = format!("{} {}", workload.name, variant.name);
                let params = cases(workload, variant).into_iter().next().unwrap_or_default();
                let result = self.clock_of(description, workload, variant, &params);
                self.found("clocks", subject, result);
            }
        }
    }

    fn clock_of(
        &mut self,
        description: &Description,
        workload: &Workload,
        variant: &Variant,
        params: &Params,
    ) -> Result<(), Fault> {
        let size = match workload.name.as_str() {
            bytes::WORKLOAD if !self.other_work.contains(bytes::WORKLOAD) => largest(workload, variant),
            name => {
                let many = self.sizes_of(name).into_iter().max().unwrap_or(1);
                variant.max_size.map_or(many, |limit| limit.min(many))
            }
        };
        let quick = self.for_clocks.get(&(workload.name.clone(), variant.name.clone()));
        let size = quick.map_or(size, |quick| size.min(*quick));
        let mut request = self.request(workload, variant, params, size);
        let judge = Judge::new(description.clock, self.cpus).compiled(description.jit);
        let mut judge = judge.of_lengths();
        let target_ns = calibrate::target_ns(calibrate::TOLD_UNITS_NS, description.clock.wall_resolution_ns);
        loop {
            let observed = self.run(&request)?;
            let rule = self.rule_of(&workload.name);
            judge.judge_times(request.iterations, &observed)?;
            if let Some(rule) = rule {
                judge.judge(rule, &request, &observed)?;
            }
            // The outside clocks decide: a probe that reports microseconds would never reach the
            // target by its own.
            let seen_ns = calibrate::seen_ns(observed.outside_wall_ns, observed.outside_cpu_ns);
            match calibrate::next_pilot(request.iterations, seen_ns, target_ns) {
                Pilot::Try(next) => request.iterations = next,
                Pilot::Stuck => {
                    return Err(Fault::does_not_repeat(request.iterations, observed.outside_wall_ns));
                }
                Pilot::Enough => {
                    let attempts = if description.jit { ATTEMPTS_JIT } else { ATTEMPTS };
                    return self.grows(&request, &judge, observed, attempts);
                }
            }
        }
    }

    /// Checks that four times the iterations take at least twice the CPU time, in one of
    /// `attempts`, of which the later are longer. The fewer iterations of the first are a quarter
    /// of those of `request`. If that is no whole number, a new sample replaces `long`.
    fn grows(
        &mut self,
        request: &RunRequest,
        judge: &Judge,
        mut long: Observed,
        attempts: usize,
    ) -> Result<(), Fault> {
        let few = (request.iterations / 4).max(1);
        let [mut shorter, mut longer] =
            [few, few.saturating_mul(4)].map(|iterations| RunRequest { iterations, ..request.clone() });
        if longer.iterations != request.iterations {
            long = self.believed(&longer, judge)?;
        }
        let mut attempt = 1;
        loop {
            // The short sample comes after the long one. Compiling code and filling caches would
            // otherwise take their time in the short one.
            let short = self.believed(&shorter, judge)?;
            let (short_ns, long_ns) = (short.sample.cpu_ns, long.sample.cpu_ns);
            if long_ns >= short_ns.saturating_mul(2) {
                return Ok(());
            }
            if attempt == attempts {
                return Err(Fault::ImpossibleTime(Wrong::clock(format!(
                    "{short_ns} ns of CPU time for {} iterations, {long_ns} ns for {}",
                    shorter.iterations, longer.iterations
                ))));
            }
            if shorter.iterations < few.saturating_mul(LENGTHENED) {
                for request in [&mut shorter, &mut longer] {
                    request.iterations = request.iterations.saturating_mul(2);
                }
            }
            long = self.believed(&longer, judge)?;
            attempt += 1;
        }
    }

    /// Asks for a sample, and checks its times against those seen from outside.
    fn believed(&mut self, request: &RunRequest, judge: &Judge) -> Result<Observed, Fault> {
        let observed = self.run(request)?;
        judge.judge_times(request.iterations, &observed)?;
        Ok(observed)
    }
}
