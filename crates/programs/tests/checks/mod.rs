//! Laws of every execution, and the program that both files of tests begin with.

use taskscale_programs::{
    Execution, Program,
    graph::Graph,
    machine::Machine,
    program::{Body, Place, Step},
};

/// Equal tasks of one family that wait for nothing.
pub fn equal(count: usize, ns: u64, workers: usize) -> Program {
    let mut graph = Graph::new();
    let (name, family) = (graph.name("t"), graph.family());
    for _ in 0..count {
        graph.work(name, family, ns);
    }
    graph.on(Machine::plain(workers))
}

/// Every task is executed once, after all that it waits for, on a worker that may, for as long as
/// it takes.
pub fn conservation(program: &Program, execution: &Execution, what: &str) {
    let mut ends: Vec<Option<(u64, u64)>> = vec![None; program.tasks.len()];
    for span in &execution.spans {
        let old = ends[span.task as usize].replace((span.start_ns, span.end_ns));
        assert_eq!(old, None, "{what}: task {} ran twice", span.task);
        let task = &program.tasks[span.task as usize];
        if let Place::Pinned(worker) = task.place {
            assert_eq!(span.worker, worker, "{what}: task {}", span.task);
        }
        assert!(span.ready_ns.is_none_or(|ready| ready <= span.start_ns), "{what}");
        assert!(task.arrives_ns.is_none_or(|arrives| arrives <= span.start_ns), "{what}");
        let lasts = span.end_ns - span.start_ns;
        assert!(span.cpu_ns + span.run_delay_ns <= lasts, "{what}: task {}: {span:?}", span.task);
        let speed = program.machine.speed(span.worker as usize);
        let least = program.size(span.task as usize) as f64 / speed.max(1.0);
        assert!(lasts as f64 >= least - 1.0, "{what}: task {} is too short", span.task);
    }
    // Delays of the host have an end too: as early as can be.
    for (index, task) in program.tasks.iter().enumerate() {
        if task.place == Place::Host {
            let ready = task.after.iter().map(|first| ends[*first as usize].map_or(0, |(_, end)| end));
            let delay = if let Body::Work(ns) = task.body { ns } else { 0 };
            let ready = ready.max().unwrap_or(0);
            ends[index] = Some((ready, ready + delay));
        }
    }
    for (index, task) in program.tasks.iter().enumerate() {
        let (start, _) = ends[index].unwrap_or_else(|| panic!("{what}: task {index} never ran"));
        for first in task.after.iter().chain(&task.loose) {
            let (_, end) = ends[*first as usize].expect("checked above");
            assert!(end <= start, "{what}: task {index} begins at {start}, task {first} ends at {end}");
        }
        for step in task.body.steps() {
            if let Step::Spawn { task, .. } = step {
                let (child, _) = ends[*task as usize].expect("checked above");
                assert!(child >= start, "{what}: task {task} before who starts it");
            }
        }
    }
    // Core time of outermost spans is the work of all tasks.
    if program.machine.speeds.is_empty() {
        let outermost = execution.spans.iter().filter(|span| span.level == 0);
        let cpu: u64 = outermost.map(|span| span.cpu_ns).sum();
        // Who helps starts tasks inside of its span.
        let dispatch: u64 = execution.dispatch_ns.iter().sum();
        let work = program.work_ns();
        assert!((work..=work + dispatch).contains(&cpu), "{what}: {cpu} ns of {work}");
    }
}

/// A worker runs one outermost task at a time, and spans lie inside the spans around them.
pub fn nesting(execution: &Execution, what: &str) {
    let mut spans = execution.spans.clone();
    spans.sort_by_key(|span| (span.worker, span.start_ns, span.level));
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut worker = u32::MAX;
    for span in spans {
        if span.worker != worker {
            open.clear();
            worker = span.worker;
        }
        let level = usize::from(span.level);
        assert!(level <= open.len(), "{what}: level {level} in {} open spans", open.len());
        if let Some((_, end)) = open.get(level) {
            assert!(*end <= span.start_ns, "{what}: two at once on worker {worker}");
        }
        open.truncate(level);
        if let Some((start, end)) = open.last() {
            assert!(*start <= span.start_ns && span.end_ns <= *end, "{what}: worker {worker}: not inside");
        }
        open.push((span.start_ns, span.end_ns));
    }
}
