//! What to look at before any conclusion is drawn from a benchmark: the checklist of Taskflow's
//! performance guide, each line answered by what was read and measured here.

use std::collections::BTreeSet;

use taskscale_model::{
    doctor::{
        Check,
        facts::{Facts, Node},
    },
    figure::percent,
    missing::{Missing, Reading},
};
use taskscale_stats::quantile::{quantile, sorted};

use super::cores::{list, slowdown_by_another_core};

/// Slices in a run that is compared with the next one: 10 x 2 ms.
const RUN: usize = 10;
/// Pairs of runs that say how far single runs differ; one in ten is left out.
const FEWEST: usize = 10;
/// What the guide calls a few percent. A pair of runs that differs by more says that something else
/// is at work.
const FEW_PERCENT: f64 = 0.1;

/// CPU time of the same work beside a busy CPU of what is called another core, over that beside one
/// left alone, from which on both share one: half of the 50 % that two hardware threads of a core
/// add at least. What shares caches and a clock alone adds less.
const SHARED: f64 = 1.25;

/// The checklist, in the order of the guide. O(CPUs squared + slices log slices).
pub fn of(facts: &Facts) -> Vec<Check> {
    vec![pinned(facts), workers(facts), repeated(facts)]
}

fn check(question: &str, holds: bool, found: String, remedy: String) -> Check {
    let remedy = if holds { String::new() } else { remedy };
    Check { question: question.into(), holds: Some(holds), found: Reading::Value(found), remedy }
}

fn unknown(question: &str, why: &Missing, remedy: &str) -> Check {
    let remedy = if why.remedy.is_empty() { remedy.to_owned() } else { why.remedy.clone() };
    let found = Reading::missing(why.reason.clone(), "");
    Check { question: question.into(), holds: None, found, remedy }
}

/// The nodes of the CPUs that this process may use, each with those CPUs. The one with most CPUs is
/// the first.
fn nodes(facts: &Facts) -> Result<Vec<Node>, &Missing> {
    let (usable, all) = (facts.processors.usable.as_result()?, facts.processors.nodes.as_result()?);
    let of = |node: &Node| Node {
        id: node.id,
        cpus: node.cpus.iter().filter(|cpu| usable.contains(cpu)).copied().collect(),
    };
    let mut nodes: Vec<Node> = all.iter().map(of).filter(|node| !node.cpus.is_empty()).collect();
    nodes.sort_by_key(|node| (std::cmp::Reverse(node.cpus.len()), node.id));
    Ok(nodes)
}

fn pinned(facts: &Facts) -> Check {
    const QUESTION: &str = "one NUMA node?";
    let nodes = match nodes(facts) {
        Ok(nodes) => nodes,
        Err(why) => return unknown(QUESTION, why, "lscpu and numactl --show may tell"),
    };
    let Some(first) = nodes.first() else {
        let why = Missing::new("no NUMA node has a CPU that may be used", "");
        return unknown(QUESTION, &why, "lscpu and numactl --show may tell");
    };
    let all = facts.processors.nodes.value().map_or(0, Vec::len);
    let cpus = format!("CPUs {}", list(&first.cpus));
    if all == 1 {
        return check(QUESTION, true, format!("the machine has one, with {cpus}"), String::new());
    }
    let ids: Vec<u32> = nodes.iter().map(|node| node.id).collect();
    let memory = match (&facts.memory.policy, &facts.memory.nodes) {
        (Reading::Value(policy), _) if policy.starts_with("bind") => format!("memory is bound ({policy})"),
        (_, Reading::Value(nodes)) if nodes.len() == 1 => format!("memory is of node {} alone", nodes[0]),
        (Reading::Value(policy), _) => {
            format!("memory is not bound ({policy}): a page lies where it is touched first")
        }
        (Reading::Missing(_), _) => "whether memory is bound is not shown".to_owned(),
    };
    let found = match ids.as_slice() {
        [one] => format!("CPUs are of node {one} alone ({cpus}); {memory}"),
        _ => format!("CPUs are of nodes {} of {all}; {memory}", list(&ascending(&ids))),
    };
    let remedy = format!(
        "numactl --cpunodebind={0} --membind={0} taskscale run, or taskset -c {1}",
        first.id,
        list(&first.cpus)
    );
    check(QUESTION, ids.len() == 1, found, remedy)
}

fn ascending(ids: &[u32]) -> Vec<u32> {
    ids.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect()
}

fn workers(facts: &Facts) -> Check {
    const QUESTION: &str = "a core per worker?";
    const REMEDY: &str = "lscpu --extended may tell; give fewer workers by hand";
    let usable = match facts.processors.usable.as_result() {
        Ok(usable) => usable,
        Err(why) => return unknown(QUESTION, why, REMEDY),
    };
    // Without nodes all CPUs count as one.
    let node = nodes(facts).ok().and_then(|nodes| nodes.into_iter().next());
    let of_node = node.as_ref().map_or(usable, |node| &node.cpus);
    let mut cores: BTreeSet<&[u32]> = BTreeSet::new();
    let mut one_each: Vec<u32> = Vec::new();
    for cpu in facts.processors.cpus.iter().filter(|cpu| of_node.contains(&cpu.id)) {
        if cpu.siblings.is_empty() {
            let why = Missing::new("the kernel does not show which CPUs share a core", "");
            return unknown(QUESTION, &why, REMEDY);
        }
        if cores.insert(&cpu.siblings) {
            one_each.push(cpu.id);
        }
    }
    if cores.is_empty() {
        return unknown(QUESTION, &Missing::new("the kernel shows no topology", ""), REMEDY);
    }
    let (workers, physical) = (usable.len(), cores.len());
    let where_ = node.as_ref().map_or("here".to_owned(), |node| format!("of node {}", node.id));
    let plural = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let mut found = format!("{}, {} {where_}", plural(workers, "worker"), plural(physical, "core"));
    // What a hypervisor calls a core may be a hardware thread: what a busy one costs another shows.
    let slower = slowdown_by_another_core(facts);
    let (by, is_shared) = slower.map_or((1.0, false), |(by, at_least)| (by, at_least >= SHARED));
    if slower.is_some() {
        found.push_str(&format!("; {by:.2}x beside a busy one"));
    }
    let remedy = match is_shared && workers <= physical {
        true => {
            format!("give {} at most: two of these CPUs share a core", plural(workers.div_ceil(2), "worker"))
        }
        false => format!("give {physical} workers at most, or taskset -c {} taskscale run", list(&one_each)),
    };
    check(QUESTION, workers <= physical && !is_shared, found, remedy)
}

fn repeated(facts: &Facts) -> Check {
    const QUESTION: &str = "one run enough?";
    let slices = &facts.measured.slices;
    let runs: Vec<f64> =
        slices.chunks_exact(RUN).map(|run| run.iter().map(|slice| slice.wall_ns as f64).sum()).collect();
    let differences: Vec<f64> = runs
        .chunks_exact(2)
        .filter(|pair| pair[1] > 0.0)
        .map(|pair| (pair[0] / pair[1] - 1.0).abs())
        .collect();
    let p90 = quantile(&sorted(&differences), 0.9).filter(|_| differences.len() >= FEWEST);
    let Some(p90) = p90 else {
        let why = Missing::new(
            format!("{} pairs of runs fitted into the time, {FEWEST} are needed", differences.len()),
            "",
        );
        return unknown(QUESTION, &why, "run taskscale doctor again when the machine is less busy");
    };
    let found =
        format!("runs of 20 ms differ by up to {} % (p90 of {} pairs)", percent(p90), differences.len());
    let remedy = "run more often and compare medians with intervals";
    check(QUESTION, p90 <= FEW_PERCENT, found, remedy.into())
}

#[cfg(test)]
mod tests {
    use taskscale_model::doctor::facts::{Cpu, Neighbour, Slice};

    use super::*;

    /// Two nodes of two cores with two hardware threads each: node 0 has CPUs 0, 1, 4 and 5.
    fn two_nodes(usable: &[u32]) -> Facts {
        let mut facts = crate::doctor::tests::nothing_known();
        let node = |id, cpus: [u32; 4]| Node { id, cpus: cpus.to_vec() };
        facts.processors.usable = Reading::Value(usable.to_vec());
        facts.processors.nodes = Reading::Value(vec![node(0, [0, 1, 4, 5]), node(1, [2, 3, 6, 7])]);
        let cpu = |id: u32| Cpu { id, siblings: vec![id % 4, id % 4 + 4], ..Cpu::default() };
        facts.processors.cpus = (0..8).map(cpu).collect();
        facts.memory.nodes = Reading::Value(vec![0, 1]);
        facts.memory.policy = Reading::Value("default".into());
        facts
    }

    fn text(check: &Check) -> &str {
        check.found.value().expect("an answer")
    }

    #[test]
    fn a_process_that_roams_is_told_how_to_stay() {
        let roams = pinned(&two_nodes(&[0, 1, 2, 3, 6, 7]));
        assert_eq!(roams.holds, Some(false));
        assert!(
            text(&roams).starts_with("CPUs are of nodes 0-1 of 2; memory is not bound (default)"),
            "{roams:?}"
        );
        // Most of its CPUs are of node 1.
        assert_eq!(roams.remedy, "numactl --cpunodebind=1 --membind=1 taskscale run, or taskset -c 2-3,6-7");
        let mut stays = two_nodes(&[0, 1]);
        stays.memory.policy = Reading::Value("bind:0".into());
        let stays = pinned(&stays);
        assert_eq!((stays.holds, stays.remedy.as_str()), (Some(true), ""));
        assert_eq!(text(&stays), "CPUs are of node 0 alone (CPUs 0-1); memory is bound (bind:0)");
        let mut group = two_nodes(&[2, 3]);
        group.memory.nodes = Reading::Value(vec![1]);
        assert!(text(&pinned(&group)).ends_with("memory is of node 1 alone"));
    }

    #[test]
    fn workers_are_held_to_physical_cores() {
        let all = workers(&two_nodes(&[0, 1, 4, 5]));
        assert_eq!(all.holds, Some(false));
        assert_eq!(text(&all), "4 workers, 2 cores of node 0");
        assert_eq!(all.remedy, "give 2 workers at most, or taskset -c 0-1 taskscale run");
        assert_eq!(workers(&two_nodes(&[0, 1])).holds, Some(true));
        let mut hidden = two_nodes(&[0, 1]);
        hidden.processors.cpus[0].siblings.clear();
        assert_eq!(workers(&hidden).holds, None);
    }

    #[test]
    fn cores_that_are_one_are_found_out_by_a_busy_neighbour() {
        let beside = |slower: f64, siblings: bool| {
            let mut facts = two_nodes(&[0, 1]);
            let pairs = vec![(1e6, slower * 1e6); 16];
            facts.measured.neighbours = vec![Neighbour { cpu: 0, other: 1, siblings, pairs }];
            workers(&facts)
        };
        let apart = beside(1.02, false);
        assert_eq!(apart.holds, Some(true));
        assert!(text(&apart).ends_with("; 1.02x beside a busy one"), "{apart:?}");
        let one = beside(1.6, false);
        assert_eq!(one.holds, Some(false), "{one:?}");
        assert_eq!(one.remedy, "give 1 worker at most: two of these CPUs share a core");
        assert_eq!(beside(1.6, true).holds, Some(true), "known siblings were counted already");
    }

    #[test]
    fn single_runs_are_compared_in_pairs() {
        let mut facts = two_nodes(&[0]);
        let slices = |noise: u64, runs: u64| {
            let slice = move |run: u64| Slice { wall_ns: 2_000_000 + (run % 2) * noise, ..Slice::default() };
            (0..runs).flat_map(move |run| (0..RUN).map(move |_| slice(run))).collect::<Vec<_>>()
        };
        facts.measured.slices = slices(20_000, 40);
        let few = repeated(&facts);
        assert_eq!((few.holds, few.remedy.as_str()), (Some(true), ""));
        assert!(text(&few).contains("up to 0.99 % (p90 of 20 pairs)"), "{few:?}");
        facts.measured.slices = slices(1_000_000, 40);
        let many = repeated(&facts);
        assert!(many.holds == Some(false) && text(&many).contains("up to 33 %"), "{many:?}");
        facts.measured.slices = slices(0, 18);
        assert_eq!(repeated(&facts).holds, None, "nine pairs");
    }

    #[test]
    fn what_is_not_known_has_a_reason_and_a_remedy() {
        for check in of(&crate::doctor::tests::nothing_known()) {
            assert_eq!(check.holds, None, "{check:?}");
            assert!(check.found.why().is_some() && !check.remedy.is_empty(), "{check:?}");
        }
    }
}
