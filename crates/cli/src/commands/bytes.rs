//! `taskscale probe bytes`: serves the files of the workload `bytes`, by hyper.

use std::{
    convert::Infallible,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    thread,
};

use anyhow::Context as _;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Body, Bytes, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use taskscale_bench::bytes::ready;
use taskscale_model::bytes::{FOLDER, URL, size_of};
use tokio::net::TcpListener;

use crate::{
    args::BytesArgs,
    bytes,
    output::{Outcome, print},
};

/// The most bytes of one piece of a response.
const PIECE: u64 = 256 << 10;

/// Makes the files, says where they are, and serves them until standard input ends.
pub fn serve(args: &BytesArgs) -> anyhow::Result<Outcome> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => bytes::folder().map_err(|why| anyhow::anyhow!("{why}"))?,
    };
    for size in &args.sizes {
        ready(&folder, *size).map_err(|why| anyhow::anyhow!("{why}"))?;
    }
    // One thread has one CPU clock, and no other to be kept from the readers' CPU.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let accepting = runtime.spawn(accept(folder));
    let stop = accepting.abort_handle();
    thread::spawn(move || {
        // Whoever started it has ended, whether the end could be read or not.
        io::copy(&mut io::stdin().lock(), &mut io::sink()).ok();
        stop.abort();
    });
    match runtime.block_on(accepting) {
        Err(ended) if ended.is_cancelled() => Ok(Outcome::Done),
        done => done?.map(|()| Outcome::Done),
    }
}

async fn accept(folder: PathBuf) -> anyhow::Result<()> {
    let listener =
        TcpListener::bind("127.0.0.1:0").await.context("a server on 127.0.0.1 cannot be started")?;
    let port = listener.local_addr()?.port();
    print(&format!("{FOLDER}={}\n{URL}=http://127.0.0.1:{port}\n", folder.display()))?;
    let folder: Arc<Path> = folder.into();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let folder = Arc::clone(&folder);
        let service = service_fn(move |request: Request<Incoming>| {
            let response = response(&folder, &request);
            async move { Ok::<_, Infallible>(response) }
        });
        // A connection that fails is the client's to tell.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

/// The file that a request names, or 404.
fn response(folder: &Path, request: &Request<Incoming>) -> Response<Piecewise> {
    let name = request.uri().path().strip_prefix('/').unwrap_or_default();
    let size = size_of(name).filter(|_| request.method() == Method::GET);
    let file = size.and_then(|size| {
        let file = File::open(folder.join(name)).ok()?;
        (file.metadata().ok()?.len() == size).then_some((file, size))
    });
    match file {
        Some((file, left)) => Response::new(Piecewise { file: Some(file), left }),
        None => {
            let mut response = Response::new(Piecewise { file: None, left: 0 });
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

/// A file, piece by piece. It lies in the page cache, so reading it does not wait.
struct Piecewise {
    file: Option<File>,
    left: u64,
}

impl Body for Piecewise {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let most = self.left.min(PIECE);
        let Some(file) = self.file.as_mut().filter(|_| most > 0) else { return Poll::Ready(None) };
        let mut piece = vec![0; most as usize];
        let many = loop {
            match file.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Poll::Ready(Some(Err(error))),
                Ok(0) => return Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into()))),
                Ok(many) => break many,
            }
        };
        piece.truncate(many);
        self.left -= many as u64;
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
