//! How a server on `rmcp` is reached: over stdio, or over Streamable HTTP on a loopback port.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt};
use tokio::net::TcpListener;

use crate::error::PeerError;

/// Where a server listens.
#[derive(clap::Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct Listen {
    /// Serves Streamable HTTP there, at `/mcp`, and prints the URL as the first line. Port 0 takes any that is free. Ends with its stdin.
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Serves whoever started it, on stdin and stdout.
    #[arg(long)]
    stdio: bool,
}

impl Listen {
    /// Serves until the other side goes: the end of stdin, in both cases.
    pub async fn serve<H: ServerHandler + Clone>(&self, server: H) -> Result<(), PeerError> {
        match self.http {
            Some(address) => over_http(server, address).await,
            None => over_stdio(server).await,
        }
    }
}

async fn over_stdio<H: ServerHandler>(server: H) -> Result<(), PeerError> {
    let running = match server.serve(stdio()).await {
        Ok(running) => running,
        // A caller that only asked for the versions, and left.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(PeerError::new("stdio", error)),
    };
    running.waiting().await.map_err(PeerError::at("stdio"))?;
    Ok(())
}

async fn over_http<H: ServerHandler + Clone>(server: H, address: SocketAddr) -> Result<(), PeerError> {
    let listener = TcpListener::bind(address).await.map_err(PeerError::at("the port"))?;
    let address = listener.local_addr().map_err(PeerError::at("the port"))?;
    say(&format!("http://{address}/mcp"))?;
    // The pages that may call it are its own.
    let config = StreamableHttpServerConfig::default().with_allowed_origins([
        format!("http://127.0.0.1:{}", address.port()),
        format!("http://localhost:{}", address.port()),
    ]);
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    tokio::select! {
        done = accept(listener, service) => done,
        () = end_of_stdin() => Ok(()),
    }
}

type Service<H> = StreamableHttpService<H, LocalSessionManager>;

async fn accept<H: ServerHandler>(listener: TcpListener, service: Service<H>) -> Result<(), PeerError> {
    loop {
        let (connection, _) = listener.accept().await.map_err(PeerError::at("the port"))?;
        connection.set_nodelay(true).map_err(PeerError::at("the port"))?;
        let service = service.clone();
        tokio::spawn(async move {
            let answered = service_fn(|request| {
                let service = service.clone();
                async move { Ok::<_, Infallible>(service.handle(request).await) }
            });
            // A caller that goes away in the middle is no matter of the server.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(connection), answered)
                .await;
        });
    }
}

/// Whoever started it holds the other end of its stdin: it ends with him, however he ends.
async fn end_of_stdin() {
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}

/// Says a line to whoever started it.
fn say(line: &str) -> Result<(), PeerError> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(PeerError::at("stdout"))
}
