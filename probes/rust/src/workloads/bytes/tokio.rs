//! The ways of tokio and hyper, on a runtime of one thread. tokio reads files on its blocking
//! threads.

use std::{io, marker::PhantomData, sync::OnceLock};

use http_body_util::{BodyExt, Empty};
use hyper::{
    Request, StatusCode,
    body::{Body, Buf, Bytes},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::{
    fs::{self, File},
    io::{AsyncRead, AsyncReadExt, BufReader},
    net::TcpStream,
    runtime::Runtime,
};

use super::{
    Way, of_file,
    source::{Place, Source},
    sums::{Access, Fold, For, Sum},
    variant,
};
use crate::{runtimes::Flavour, sdk::Variant};

pub fn variants() -> Vec<Variant> {
    vec![
        variant("fs::read/for", "tokio::fs::read: the whole file", of_file(), Whole(PhantomData::<For>)),
        variant("fs::read/fold", "tokio::fs::read: the whole file", of_file(), Whole(PhantomData::<Fold>)),
        variant("File::read/for", "tokio::fs::File into a buffer", of_file(), Chunks),
        variant(
            "BufReader/read_u8",
            "tokio's BufReader of a file: an await for each byte",
            of_file(),
            EachAwaited,
        ),
        variant(
            "hyper/for",
            "hyper's client: a connection for each pass, its body frame by frame",
            json!({"source": ["http"], "mode": ["sum8", "fnv"]}),
            Frames,
        ),
    ]
}

/// The runtime, with its driver of I/O.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = Flavour::CurrentThread.builder().enable_io().build()?;
    Ok(RUNTIME.get_or_init(|| built))
}

/// `tokio::fs::read`.
struct Whole<A>(PhantomData<A>);

impl<A: Access> Way for Whole<A> {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let path = from.file()?;
        runtime()?.block_on(async {
            let mut sum = S::new();
            A::take(&mut sum, &fs::read(path).await?);
            Ok(sum)
        })
    }
}

/// `read` of `tokio::fs::File`.
struct Chunks;

impl Way for Chunks {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let path = from.file()?;
        runtime()?.block_on(async { chunks(&mut File::open(path).await?, &mut vec![0; from.chunk]).await })
    }
}

pub async fn chunks<S: Sum>(from: &mut (impl AsyncRead + Unpin), buffer: &mut [u8]) -> io::Result<S> {
    let mut sum = S::new();
    loop {
        match from.read(buffer).await? {
            0 => return Ok(sum),
            many => For::take(&mut sum, &buffer[..many]),
        }
    }
}

/// `read_u8` of a `BufReader`.
struct EachAwaited;

impl Way for EachAwaited {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let path = from.file()?;
        runtime()?
            .block_on(async { each(BufReader::with_capacity(from.chunk, File::open(path).await?)).await })
    }
}

pub async fn each<S: Sum>(mut from: impl AsyncRead + Unpin) -> io::Result<S> {
    let mut sum = S::new();
    loop {
        match from.read_u8().await {
            Ok(byte) => sum.add(byte),
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => return Ok(sum),
            Err(why) => return Err(why),
        }
    }
}

/// The frames of a response's body.
pub struct Frames;

impl Way for Frames {
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S> {
        let Place::Http { address, path } = &from.place else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this way reads over HTTP alone"));
        };
        runtime()?.block_on(get(address, path))
    }
}

async fn get<S: Sum>(address: &str, path: &str) -> io::Result<S> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let request = Request::get(path).header("host", address).body(Empty::<Bytes>::new());
    let response = sender.send_request(request.map_err(io::Error::other)?).await.map_err(io::Error::other)?;
    if response.status() != StatusCode::OK {
        return Err(io::Error::other(response.status().to_string()));
    }
    let sum = frames(response.into_body()).await?;
    // Without a sender the connection ends.
    drop(sender);
    connection.await.map_err(io::Error::other)?.map_err(io::Error::other)?;
    Ok(sum)
}

pub async fn frames<S, B>(mut body: B) -> io::Result<S>
where
    S: Sum,
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let mut sum = S::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(io::Error::other)?.into_data() {
            For::take(&mut sum, data.chunk());
        }
    }
    Ok(sum)
}
