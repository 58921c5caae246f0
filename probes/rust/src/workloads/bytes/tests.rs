use std::{
    fs::File,
    io::{self, BufReader, ErrorKind, Read, Write},
    net::TcpListener,
    pin::Pin,
    task::{Context, Poll},
    thread,
};

use ::tokio::io::{AsyncRead, ReadBuf};

use super::{
    Way, map, plain,
    source::{Place, Source, behind_head},
    sums::{Bare, Counted, Fnv, Fold, For, IterSum, Sum, Sum8, Unseen},
    tokio,
};

/// The content of the workload, written a second time: xoshiro256** from the state that
/// PROTOCOL.md's seed gives.
fn content(size: usize) -> Vec<u8> {
    let [mut s0, mut s1, mut s2, mut s3] =
        [0xbdd7_3226_2feb_6e95_u64, 0x28ef_e333_b266_f103, 0x4752_6757_130f_9f52, 0x581c_e1ff_0e4a_e394];
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        let word = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        bytes.extend(word.to_le_bytes());
        let t = s1 << 17;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = s3.rotate_left(45);
    }
    bytes.truncate(size);
    bytes
}

/// Published sums: of no byte, of eight, of 64 KiB.
const TRUTHS: [(usize, u64, u64); 3] =
    [(0, 0, 0xcbf2_9ce4_8422_2325), (8, 221, 0xfc37_75c2_0640_340c), (65_536, 214, 0x361c_e99e_e50d_834f)];

const SIZES: [usize; 7] = [0, 1, 8, 1_000, 65_535, 65_536, 65_537];

fn sums(bytes: &[u8]) -> (u64, u64) {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211);
    let sum = bytes.iter().fold(0_u64, |sum, byte| sum + u64::from(*byte)) % 256;
    (sum, bytes.iter().fold(14_695_981_039_346_656_037, fnv))
}

/// Gives few bytes at a time, and is interrupted now and then.
struct Slow<'b> {
    bytes: &'b [u8],
    calls: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(5) {
            return Err(ErrorKind::Interrupted.into());
        }
        let many = (self.calls % 7 + 1).min(buffer.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(many);
        buffer[..many].copy_from_slice(now);
        self.bytes = later;
        Ok(many)
    }
}

impl AsyncRead for Slow<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut few = vec![0; buffer.remaining()];
        match self.read(&mut few) {
            Err(_) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Ok(many) => {
                buffer.put_slice(&few[..many]);
                Poll::Ready(Ok(()))
            }
        }
    }
}

fn slow(bytes: &[u8]) -> Slow<'_> {
    Slow { bytes, calls: 0 }
}

#[test]
fn the_content_has_the_published_sums() {
    for (size, sum8, fnv) in TRUTHS {
        assert_eq!(sums(&content(size)), (sum8, fnv), "{size} bytes");
    }
}

#[test]
fn short_reads_and_an_end_within_a_chunk_lose_nothing() {
    for size in SIZES {
        let bytes = content(size);
        let (sum8, fnv) = sums(&bytes);
        for chunk in [1, 3, 4_096, 65_536] {
            let mut buffer = vec![0; chunk];
            let mut sum = Counted::<Fnv>::new();
            plain::chunks::<For, _>(&mut slow(&bytes), &mut buffer, &mut sum).unwrap();
            assert_eq!((sum.value(), sum.executed()), (fnv, Some(size as u64)), "{size} by {chunk}");
            let mut sum = Counted::<Fnv>::new();
            plain::chunks::<Fold, _>(&mut slow(&bytes), &mut buffer, &mut sum).unwrap();
            assert_eq!((sum.value(), sum.executed()), (fnv, Some(size as u64)), "{size} by {chunk}");
            let mut sum = Counted::<Sum8>::new();
            plain::chunks::<IterSum, _>(&mut slow(&bytes), &mut buffer, &mut sum).unwrap();
            assert_eq!((sum.value(), sum.executed()), (sum8, Some(size as u64)), "{size} by {chunk}");
            let mut sum = Counted::<Bare>::new();
            plain::chunks::<Unseen, _>(&mut slow(&bytes), &mut buffer, &mut sum).unwrap();
            assert_eq!((sum.value(), sum.executed()), (size as u64, Some(size as u64)), "{size} by {chunk}");
            let buffered = || BufReader::with_capacity(chunk, slow(&bytes));
            let sum: Counted<Fnv> = plain::filled(buffered()).unwrap();
            assert_eq!((sum.value(), sum.executed()), (fnv, Some(size as u64)), "{size} by {chunk}");
            let sum: Counted<Fnv> = plain::each(buffered()).unwrap();
            assert_eq!((sum.value(), sum.executed()), (fnv, Some(size as u64)), "{size} by {chunk}");
            smol::block_on(async {
                let sum: Counted<Fnv> = tokio::chunks(&mut slow(&bytes), &mut buffer).await.unwrap();
                assert_eq!((sum.value(), sum.executed()), (fnv, Some(size as u64)), "{size} by {chunk}");
                let sum: Counted<Fnv> = tokio::each(slow(&bytes)).await.unwrap();
                assert_eq!((sum.value(), sum.executed()), (fnv, Some(size as u64)), "{size} by {chunk}");
            });
        }
    }
}

#[test]
fn a_mapped_file_is_whole_and_may_be_empty() {
    for size in SIZES {
        let path = std::env::temp_dir().join(format!("taskscale-map-{}-{size}", std::process::id()));
        std::fs::write(&path, content(size)).unwrap();
        let seen = map::mapped(&File::open(&path).unwrap(), <[u8]>::to_vec).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(seen == content(size), "{size} bytes");
    }
}

#[test]
fn a_head_in_pieces_ends_where_it_does_and_another_status_is_told() {
    let body = content(100);
    let response = [&b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n"[..], &body].concat();
    let mut from = slow(&response);
    let mut got = behind_head(&mut from).unwrap();
    while let Some(left) = Some(from.bytes).filter(|left| !left.is_empty()) {
        got.extend(left);
        from.bytes = &[];
    }
    assert_eq!(got, body);
    let why = behind_head(&mut slow(b"HTTP/1.1 404 Not Found\r\n\r\n")).unwrap_err();
    assert_eq!(why.to_string(), "HTTP/1.1 404 Not Found");
    assert_eq!(behind_head(&mut slow(b"HTTP/1.1 20")).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

/// Serves `bytes` once, in pieces of odd lengths.
fn serve_once(bytes: Vec<u8>) -> Source {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            let mut one = [0];
            stream.read_exact(&mut one).unwrap();
            asked.extend(one);
        }
        assert!(asked.starts_with(b"GET /7.bytes HTTP/1.1\r\n"), "{asked:?}");
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", bytes.len())
            .unwrap();
        bytes.chunks(9_001).for_each(|piece| stream.write_all(piece).unwrap());
    });
    Source { place: Place::Http { address, path: "/7.bytes".into() }, chunk: 4_096, memory: Vec::new() }
}

#[test]
fn bytes_over_http_are_all_summed_up() {
    let pass = |name: &str, source: &Source| -> (u64, Option<u64>) {
        let sum: Counted<Fnv> = match name {
            "hyper/for" => tokio::Frames.pass(source).unwrap(),
            _ => plain::Chunks(std::marker::PhantomData::<For>).pass(source).unwrap(),
        };
        (sum.value(), sum.executed())
    };
    for size in SIZES {
        let (_, fnv) = sums(&content(size));
        for name in ["hyper/for", "read/for"] {
            let got = pass(name, &serve_once(content(size)));
            assert_eq!(got, (fnv, Some(size as u64)), "{name}, {size} bytes");
        }
    }
}
