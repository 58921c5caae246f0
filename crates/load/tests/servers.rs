//! The client against servers of this test: right ones, one that stalls, and hostile ones.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use taskscale_load::{Client, MOST_BYTES, Problem, Wanted};

const BODY: &[u8] = b"right";

fn wanted() -> Wanted {
    Wanted(BODY.to_vec())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A server that gives each connection a thread, which hands it to `serve`. Returns its port.
fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Reads one request; `false` where the client is gone.
fn request(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    let mut byte = [0; 64];
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(0) | Err(_) => return false,
            Ok(count) => seen.extend(&byte[..count]),
        }
    }
    true
}

fn respond(stream: &mut TcpStream, body: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    // A client that is gone is seen at the next read.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// A right server that counts its requests.
fn right() -> (u16, Arc<AtomicU64>) {
    let served = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&served);
    let port = server(move |mut stream| {
        while request(&mut stream) {
            counter.fetch_add(1, SeqCst);
            respond(&mut stream, BODY);
        }
    });
    (port, served)
}

fn sum(buckets: &[(u64, u64)]) -> u64 {
    buckets.iter().map(|(_, count)| count).sum()
}

fn at_least(buckets: &[(u64, u64)], ms: u64) -> u64 {
    let slow = buckets.iter().filter(|(ns, _)| *ns >= ms * 1_000_000);
    slow.map(|(_, count)| count).sum()
}

#[test]
fn both_loops_send_exactly_what_they_are_told_and_can_be_repeated() {
    let (port, served) = right();
    let mut client = Client::connect(port, 10, wanted(), soon()).expect("it listens");
    for (round, requests) in [1, 7, 10, 333].into_iter().enumerate() {
        let before = served.load(SeqCst);
        let tally = client.closed(requests, soon()).expect("a right server");
        assert_eq!((tally.answered, served.load(SeqCst) - before), (requests, requests), "{round}");
        assert_eq!((sum(&tally.latency), sum(&tally.from_send)), (requests, requests));
        let tally = client.open(requests, 2_000.0, soon()).expect("a right server");
        assert_eq!((tally.answered, served.load(SeqCst) - before), (requests, 2 * requests), "{round}");
        assert_eq!((sum(&tally.latency), sum(&tally.from_send)), (requests, requests));
    }
}

#[test]
fn an_open_loop_keeps_its_rate() {
    let (port, _) = right();
    let mut client = Client::connect(port, 10, wanted(), soon()).expect("it listens");
    let tally = client.open(200, 400.0, soon()).expect("a right server");
    // The last of 200 requests is to start after 199 / 400 s. It cannot be answered earlier.
    assert!(tally.wall >= Duration::from_micros(497_500), "{:?}", tally.wall);
}

#[test]
fn a_stall_is_in_the_latency_from_the_intended_start_and_not_in_that_from_the_send() {
    // Stalls of 100 ms in every second, for all connections: it has one.
    let stalls = Arc::new(AtomicU64::new(0));
    let planted = Arc::clone(&stalls);
    let port = server(move |mut stream| {
        let mut next = Instant::now() + Duration::from_millis(500);
        while request(&mut stream) {
            if Instant::now() >= next {
                planted.fetch_add(1, SeqCst);
                thread::sleep(Duration::from_millis(100));
                next += Duration::from_secs(1);
            }
            respond(&mut stream, BODY);
        }
    });
    let mut client = Client::connect(port, 1, wanted(), soon()).expect("it listens");
    let requests = 1_500;
    let tally = client.open(requests, 500.0, soon()).expect("a right server");
    let stalls = stalls.load(SeqCst);
    assert!(stalls >= 3, "three seconds have three stalls, there were {stalls}");
    // In the 100 ms of a stall 50 requests are due, one every 2 ms. Those of the first 20 ms wait
    // 80 ms or more. A busy machine makes them wait longer.
    let slow = at_least(&tally.latency, 80);
    assert!(slow >= 10 * stalls && slow * 100 >= requests, "{slow} of {requests} took 80 ms");
    // Of one stall one request was under way. So the same load, counted from the send, has a 99th
    // percentile that knows nothing of it.
    let seen = at_least(&tally.from_send, 80);
    assert!(seen >= stalls && seen * 100 < requests, "{seen} of {requests} took 80 ms from the send");

    // A closed loop asks nothing while it waits.
    let tally = client.closed(requests, soon()).expect("a right server");
    let seen = at_least(&tally.latency, 80);
    assert!(seen * 100 < requests, "{seen} of {requests} took 80 ms in a closed loop");
}

fn load(port: u16) -> Problem {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut client = Client::connect(port, 4, wanted(), deadline).expect("it listens");
    client.closed(100, deadline).expect_err("a hostile server")
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let problem = Client::connect(port, 4, wanted(), soon()).err().expect("nobody listens").to_string();
    assert!(problem.starts_with(&format!("no connection to port {port}")), "{problem}");
}

#[test]
fn a_server_that_hangs_is_left_at_the_deadline() {
    let port = server(|mut stream| while request(&mut stream) {});
    let deadline = Instant::now() + Duration::from_millis(200);
    let mut client = Client::connect(port, 4, wanted(), soon()).expect("it listens");
    let hung = Problem::TimedOut { answered: 0, of: 100 };
    assert_eq!(client.closed(100, deadline).err(), Some(hung.clone()));
    let mut client = Client::connect(port, 4, wanted(), soon()).expect("it listens");
    let deadline = Instant::now() + Duration::from_millis(200);
    assert_eq!(client.open(100, 1_000.0, deadline).err(), Some(hung));
}

#[test]
fn a_server_that_closes_answers_wrongly_or_speaks_otherwise_is_named() {
    let port = server(|mut stream| {
        request(&mut stream);
        respond(&mut stream, BODY);
    });
    let problem = load(port);
    assert!(matches!(problem, Problem::Closed { of: 100, .. }), "{problem}");

    let port = server(|mut stream| {
        while request(&mut stream) {
            respond(&mut stream, b"wrong");
        }
    });
    assert_eq!(load(port), Problem::Body { at: 0, got: 5, right: 5 });

    let port = server(|mut stream| {
        let _ = stream.write_all(b"220 mail\r\n");
        while request(&mut stream) {}
    });
    let problem = load(port);
    assert!(matches!(problem, Problem::NotHttp(_) | Problem::Unasked), "{problem}");
}

#[test]
fn a_server_that_floods_is_left_after_a_few_bytes() {
    for head in ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nX: ", ""] {
        let gone = Arc::new(AtomicBool::new(false));
        let written = Arc::new(AtomicU64::new(0));
        let (over, count) = (Arc::clone(&gone), Arc::clone(&written));
        let port = server(move |mut stream| {
            request(&mut stream);
            let mut chunk = head.as_bytes().to_vec();
            while stream.write_all(&chunk).is_ok() {
                count.fetch_add(chunk.len() as u64, SeqCst);
                chunk = vec![b'x'; 4096];
            }
            over.store(true, SeqCst);
        });
        let problem = load(port);
        let named = matches!(problem, Problem::TooLong(MOST_BYTES) | Problem::NotHttp(_) | Problem::Unasked);
        assert!(named, "{head:?}: {problem}");
        // The connections are closed, so the server ends too.
        let deadline = soon();
        while !gone.load(SeqCst) {
            assert!(Instant::now() < deadline, "{} bytes", written.load(SeqCst));
            thread::sleep(Duration::from_millis(5));
        }
    }
}
