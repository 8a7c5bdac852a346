//! A line each, through a program's pipes.
//!
//! ```text
//! request ─► queue ─► writer ─► standard input
//!                               standard output ─► reader ─► Core::heard      its end is the end of the connection
//!                               standard error  ─► kept, a little of it, for what is said when it ends
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_sandbox::{Fence, Program, Tree, spawn};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use crate::client::core::Core;
use crate::client::flights::Life;
use crate::client::{ClientError, Process};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// A program's pipes, or anything like them.
pub(in crate::client) struct Pipes {
    queue: mpsc::Sender<Outbound>,
    ends: Mutex<Option<Ends>>,
    tree: Arc<Mutex<Option<Tree>>>,
    fence: Option<Fence>,
    closing: CancellationToken,
    last_words: Arc<LastWords>,
}

/// What the tasks take over.
struct Ends {
    reader: Reader,
    writer: Writer,
    errors: Option<Reader>,
    outbound: mpsc::Receiver<Outbound>,
}

struct Outbound {
    text: String,
    life: Option<Arc<Life>>,
}

/// How many messages wait to be written.
const QUEUE: usize = 64;
/// How long a program's last words are waited for when it has closed its output.
const FOR_LAST_WORDS: Duration = Duration::from_millis(100);

impl Pipes {
    /// Starts a program.
    pub(in crate::client) fn start(process: &Process) -> std::io::Result<Self> {
        let program = Program {
            command: &process.command,
            environment: &process.environment,
            variables: &process.variables,
            folder: process.folder.as_deref(),
        };
        let (tree, pipes) = spawn(&program, process.patience)?;
        let fence = tree.fence().clone();
        let mut made = Self::over(Box::new(pipes.stdout), Box::new(pipes.stdin), Some(Box::new(pipes.stderr)));
        made.tree = Arc::new(Mutex::new(Some(tree)));
        made.fence = Some(fence);
        Ok(made)
    }

    /// Over two streams.
    pub(in crate::client) fn over(reader: Reader, writer: Writer, errors: Option<Reader>) -> Self {
        let (queue, outbound) = mpsc::channel(QUEUE);
        Self {
            queue,
            ends: Mutex::new(Some(Ends { reader, writer, errors, outbound })),
            tree: Arc::default(),
            fence: None,
            closing: CancellationToken::new(),
            last_words: Arc::default(),
        }
    }

    pub(super) fn begin(&self, core: &Arc<Core>) {
        let Some(ends) = self.ends.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let Ends { reader, writer, errors, outbound } = ends;
        core.spawn(write(writer, outbound, self.closing.clone()));
        let words = self.last_words.clone();
        let heard_all = CancellationToken::new();
        let said_all = heard_all.clone();
        core.spawn(async move {
            if let Some(errors) = errors {
                words.hear(errors).await;
            }
            said_all.cancel();
        });
        let (weak, longest) = (Arc::downgrade(core), core.options.bounds.message);
        let (words, tree) = (self.last_words.clone(), self.tree.clone());
        core.spawn(async move {
            let mut lines = Lines::new(BufReader::with_capacity(64 << 10, reader), longest);
            while let Some(line) = lines.next().await {
                let Some(core) = weak.upgrade() else { return };
                match line {
                    Line::Text(text) if text.trim().is_empty() => {}
                    // Most noise begins otherwise, and is told as it is.
                    Line::Text(text) if !text.trim_start().starts_with('{') => core.noise(&text),
                    Line::Text(text) => core.heard_text(text, None),
                    Line::Bytes(shown) => core.noise(&shown),
                    Line::TooLong => too_long(&core, longest),
                    Line::Endless => {
                        core.lose("it sent a line that does not end");
                        break;
                    }
                }
            }
            let _ = tokio::time::timeout(FOR_LAST_WORDS, heard_all.cancelled()).await;
            if let Some(core) = weak.upgrade() {
                core.lose(&format!("the program closed its standard output{}", words.told()));
            }
            let left = tree.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(mut left) = left {
                // How it ended changes nothing any more.
                let _ = left.stop().await;
            }
        });
    }

    pub(super) async fn send(&self, text: String, life: Option<Arc<Life>>) -> Result<(), ClientError> {
        let sent = self.queue.send(Outbound { text, life }).await;
        sent.map_err(|_| ClientError::NotSent(format!("the program reads nothing any more{}", self.last_words.told())))
    }

    pub(super) fn fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }

    pub(super) async fn close(&self) {
        self.closing.cancel();
        let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut tree) = tree {
            let _ = tree.stop().await;
        }
    }

    pub(super) fn end(&self) {
        self.closing.cancel();
        self.tree.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// One answer is too long, and nobody knows whose. Where only one is waited for, it is that one.
fn too_long(core: &Core, longest: usize) {
    let what = format!("it sent a line of more than {longest} bytes");
    match core.flights.only().and_then(|id| core.flights.take(id)) {
        Some(flight) => flight.land(Err(ClientError::Invalid(what))),
        None => core.noise(&what),
    }
}

/// A message is written to its end, whoever waits: half a line would spoil the next one.
async fn write(mut writer: Writer, mut outbound: mpsc::Receiver<Outbound>, closing: CancellationToken) {
    let writing = async {
        while let Some(Outbound { mut text, life }) = outbound.recv().await {
            if life.is_some_and(|life| !life.may_be_sent()) {
                continue;
            }
            text.push('\n');
            if writer.write_all(text.as_bytes()).await.is_err() || writer.flush().await.is_err() {
                // The reader learns of the end, and says so.
                return;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = closing.cancelled() => {}
    }
}

/// The end of what a program said on its standard error.
#[derive(Default)]
struct LastWords(Mutex<VecDeque<u8>>);

impl LastWords {
    const KEPT: usize = 4 << 10;
    const TOLD: usize = 1 << 10;

    /// Reads all of it: a program whose output nobody reads would stand still.
    async fn hear(&self, mut errors: Reader) {
        let mut chunk = vec![0; 4 << 10];
        while let Ok(count @ 1..) = errors.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(&chunk[..count]);
            let excess = kept.len().saturating_sub(Self::KEPT);
            kept.drain(..excess);
        }
    }

    fn told(&self) -> String {
        let kept: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let text = text.trim();
        if text.is_empty() {
            return String::new();
        }
        let from = text.ceil_char_boundary(text.len().saturating_sub(Self::TOLD));
        format!("; the last that it said on standard error: {}", &text[from..])
    }
}

#[cfg(test)]
mod tests;
