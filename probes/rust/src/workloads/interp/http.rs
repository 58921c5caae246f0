//! `mode = http-closed` and `http-open`: a server of hyper, whose every GET evaluates a request.

use std::{
    convert::Infallible,
    net::TcpListener,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use http_body_util::Full;
use hyper::{Request, Response, StatusCode, body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use super::{difference, tool, value::Value};
use crate::{
    runtimes::Flavour,
    sdk::{Run, Timing},
};

/// What the responses of a server have in common.
struct Responses {
    right: Bytes,
    /// Right responses since the timed part began.
    answered: Arc<AtomicU64>,
    /// What was wrong with the first wrong output.
    wrong: OnceLock<String>,
}

impl Responses {
    fn to(&self, output: Bytes) -> Response<Full<Bytes>> {
        if output == self.right {
            self.answered.fetch_add(1, Relaxed);
            return Response::new(Full::new(output));
        }
        let why = self.wrong.get_or_init(|| difference(&output, &self.right)).clone();
        let mut response = Response::new(Full::new(why.into()));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    }
}

/// Serves until the tool says stop. `output` gives what a request is answered; it is compared with
/// `right`.
pub fn serve<F: Future<Output = Bytes> + Send>(
    run: &Run,
    flavour: Flavour,
    right: Vec<u8>,
    output: impl Fn(&Bytes) -> F + Clone + Send + Sync + 'static,
) -> Result<Timing, String> {
    let failed = |why: std::io::Error| format!("a server on 127.0.0.1 cannot be started: {why}");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let runtime = flavour.builder().enable_io().build().map_err(failed)?;
    let answered = Arc::new(AtomicU64::new(0));
    let responses =
        Arc::new(Responses { right: right.into(), answered: Arc::clone(&answered), wrong: OnceLock::new() });
    let shared = Arc::clone(&responses);
    let connections = async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (responses, output) = (Arc::clone(&shared), output.clone());
            let service = service_fn(move |_: Request<hyper::body::Incoming>| {
                let (responses, output) = (Arc::clone(&responses), output(&responses.right));
                async move { Ok::<_, Infallible>(responses.to(output.await)) }
            });
            // A connection that fails is the client's to tell.
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    };
    runtime.spawn(async move {
        let ended: std::io::Result<()> = connections.await;
        ended
    });
    let (done, stopped) = oneshot::channel();
    let run = run.clone();
    // It waits for the tool's lines, which no thread of the runtime should.
    let tool = thread::spawn(move || {
        let server = format!("hyper {}", env!("TASKSCALE_HYPER_VERSION"));
        // The runtime waits for this as long as it is there.
        let _ = done.send(tool::served(&run, port, &server, &answered));
    });
    let timing = runtime.block_on(stopped).map_err(|_| "the server's control ended".to_owned())?;
    drop(runtime);
    tool.join().map_err(|_| "the server's control panicked".to_owned())?;
    match responses.wrong.get() {
        Some(wrong) => Err(wrong.clone()),
        None => timing.map_err(|why| format!("the tool did not stop the server: {why}")),
    }
}

/// The bytes of a result.
pub fn written(result: &Value) -> Bytes {
    serde_json::to_vec(result).unwrap_or_else(|why| why.to_string().into_bytes()).into()
}
