//! A person at this machine: shown a URL, and awaited at a port of it (RFC 8252 section 7.3).

use std::time::Duration;

use lockgate_contract::ports::BoxFuture;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{Flow, OAuthError, UserAgent};

/// Shows a person the URL, and waits for their browser at a port of this machine. It opens nothing.
pub struct Loopback {
    listener: TcpListener,
    redirect_uri: String,
    show: Box<dyn Fn(&str) + Send + Sync>,
    patience: Duration,
}

const PATH: &str = "/oauth/callback";
/// How long a browser may take to say what it wants.
const FOR_REQUEST: Duration = Duration::from_secs(5);
const LONGEST_REQUEST: usize = 16 << 10;
/// Browsers ask for more than they were sent for, such as an icon.
const MOST_REQUESTS: usize = 64;

impl Loopback {
    /// Takes a port. `show` is given the URL for the person; they have this long to come back.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn bind(show: impl Fn(&str) + Send + Sync + 'static, patience: Duration) -> Result<Self, OAuthError> {
        let no_port = |error| OAuthError::Settings(format!("no port of this machine can be had: {error}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(no_port)?;
        let port = listener.local_addr().map_err(no_port)?.port();
        Ok(Self { listener, redirect_uri: format!("http://127.0.0.1:{port}{PATH}"), show: Box::new(show), patience })
    }

    /// The query that answers the login. Whoever else knocks is sent away.
    async fn wait_for(&self, flow: &Flow) -> Result<(String, TcpStream), OAuthError> {
        for _ in 0..MOST_REQUESTS {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            let Ok(Some(target)) = timeout(FOR_REQUEST, target(&mut stream)).await else { continue };
            let query = target.strip_prefix(PATH).and_then(|rest| rest.strip_prefix('?'));
            match query {
                Some(query) if flow.is_answered_by(query) => return Ok((query.to_owned(), stream)),
                Some(_) => say(stream, "400 Bad Request", "This is no answer to the login that is under way.").await,
                None => say(stream, "404 Not Found", "There is nothing here.").await,
            }
        }
        Err(OAuthError::UnknownState)
    }
}

impl UserAgent for Loopback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn visit(&self, flow: Flow) -> BoxFuture<'_, Result<(), OAuthError>> {
        Box::pin(async move {
            (self.show)(flow.url());
            let came = timeout(self.patience, self.wait_for(&flow)).await;
            let (query, stream) = came.map_err(|_| OAuthError::TimedOut(self.patience.as_secs()))??;
            let result = flow.finish(&query).await;
            // Nothing of what came is said again: it is a stranger's.
            let (status, text) = match &result {
                Ok(()) => ("200 OK", "Logged in. This page can be closed."),
                Err(_) => ("400 Bad Request", "Not logged in. The command says why."),
            };
            say(stream, status, text).await;
            result
        })
    }
}

/// What a browser asks for, by GET.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut some = [0; 1024];
        let read = stream.read(&mut some).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&some[..read]);
        if head.len() > LONGEST_REQUEST {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let target = words.next().filter(|method| *method == "GET").and(words.next())?;
    Some(target.to_owned())
}

async fn say(mut stream: TcpStream, status: &str, text: &str) {
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\ncache-control: no-store\r\n\
         connection: close\r\n\r\n{text}"
    );
    // A browser that is gone misses nothing that matters.
    let _ = timeout(FOR_REQUEST, async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
