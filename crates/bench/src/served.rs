//! One sample of a server: the probe serves, and the tool sends the requests (`probes/PROTOCOL.md`,
//! "A server").

use std::time::{Duration, Instant};

use taskscale_load::{Client, Problem, Tally, Wanted};
use taskscale_model::{
    load::{LoadRecord, Mode, OpenRecord, Pinned},
    params::ParamValue,
    protocol::{Reply, Request, RunRequest, Serving, VERIFY},
};
use taskscale_sys::{
    affinity::{self, Kept},
    clock,
};

use crate::{
    fault::Fault,
    invariants,
    probe::{Probe, junk, parse},
};

/// Connections of a timed load. As many as in the published measurements.
pub const CONNECTIONS: u64 = 100;

/// The CPUs of server and generator: the last and the first that may be used, which are no siblings
/// of one core where there are more than two. `None` where there is one CPU, or none can be chosen.
pub fn cpus() -> Option<Pinned> {
    let usable = affinity::usable();
    match usable.as_slice() {
        [generator, .., server] => Some(Pinned { server: *server, generator: *generator }),
        _ => None,
    }
}

/// The mode in which a request is to be served; `None` where it is performed in the process.
pub fn mode(request: &RunRequest) -> Option<Mode> {
    Mode::of(&request.workload, &request.params)
}

/// Loads the server that answered `request` with `line`. Returns the line with the sample, and what
/// the load told.
pub fn load(
    probe: &mut Probe,
    mode: Mode,
    request: &RunRequest,
    line: &[u8],
    asked: &str,
    timeout_ns: u64,
) -> Result<(Vec<u8>, LoadRecord), Fault> {
    let Serving { id, port, server } = match parse(line, asked)? {
        Reply::Serving(serving) => serving,
        Reply::Error { message, .. } => {
            return Err(Fault::Refused { asked: asked.into(), message, own: None });
        }
        _ => return Err(junk(line, asked, "a server was expected: \"type\":\"serving\"")),
    };
    if let Some(got) = id.filter(|id| *id != request.id) {
        return Err(Fault::OtherQuestion { got, asked: request.id });
    }
    // The generator runs on this thread.
    let kept = probe.pinned.and_then(|pinned| Kept::on(pinned.generator));
    let pinned = probe.pinned.filter(|_| kept.is_some());
    let seconds = Duration::from_nanos(timeout_ns);
    let failed = |probe: &mut Probe, problem: Problem| {
        // A process that has ended tells more than its connections.
        let ended = matches!(problem, Problem::Closed { .. } | Problem::Connect { .. } | Problem::Io(_));
        let last = if ended { probe.last_words(asked) } else { None };
        last.unwrap_or(Fault::Load { asked: asked.to_owned(), problem })
    };
    let requests = request.size.saturating_mul(request.iterations);
    // Counts that tell the order of a request's parts need one request at a time.
    let verifies = request.params.get(VERIFY) == Some(&ParamValue::Flag(true));
    let connections = if verifies { 1 } else { requests.min(CONNECTIONS) };
    let wanted = Wanted(invariants::wanted(request));
    let mut client = Client::connect(port, connections as usize, wanted, Instant::now() + seconds)
        .map_err(|problem| failed(probe, problem))?;
    let closed = |probe: &mut Probe, client: &mut Client, requests: u64| {
        client.closed(requests, Instant::now() + seconds).map_err(|problem| failed(probe, problem))
    };
    let mut per_s = None;
    if !verifies {
        // Accepting a connection and its first request lie outside the timed part, as all setting
        // up does.
        closed(probe, &mut client, connections)?;
        if let Mode::Open { rate } = mode {
            let throughput = per_second(&closed(probe, &mut client, requests)?);
            per_s = Some((throughput, throughput * rate.max(1) as f64 / 100.0));
        }
    }
    let id = request.id;
    let line = probe.exchange(&Request::Begin { id }, asked, timeout_ns)?;
    match parse(&line, asked)? {
        Reply::Began { .. } => (),
        Reply::Error { message, .. } => {
            return Err(Fault::Refused { asked: asked.into(), message, own: None });
        }
        _ => return Err(junk(&line, asked, "\"type\":\"began\" was expected")),
    }
    let cpu_before = clock::own_thread_cpu_ns().unwrap_or_default();
    let tally = match per_s {
        None => closed(probe, &mut client, requests)?,
        Some((_, wanted)) => client
            .open(requests, wanted, Instant::now() + seconds)
            .map_err(|problem| failed(probe, problem))?,
    };
    let generator_cpu_ns = clock::own_thread_cpu_ns().unwrap_or_default().saturating_sub(cpu_before);
    let sample = probe.exchange(&Request::Stop { id }, asked, timeout_ns)?;
    let wall_ns = u64::try_from(tally.wall.as_nanos()).unwrap_or(u64::MAX);
    let open = per_s.map(|(closed_per_s, wanted_per_s)| OpenRecord {
        closed_per_s,
        wanted_per_s,
        achieved_per_s: per_second(&tally),
        waiting: tally.waiting,
        latency: tally.latency,
        late: tally.late,
    });
    Ok((sample, LoadRecord { server, connections, wall_ns, generator_cpu_ns, pinned, open }))
}

fn per_second(tally: &Tally) -> f64 {
    tally.answered as f64 / tally.wall.as_secs_f64().max(1e-9)
}
