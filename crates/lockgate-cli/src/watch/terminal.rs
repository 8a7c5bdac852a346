//! The terminal while the page is on it: as it was before, however the page ends.

use std::io::{self, IsTerminal as _, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, poll, read};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::{Frame, Terminal};
use tokio::sync::mpsc;

/// How often the keyboard's thread looks whether it is still wanted.
const WANTED: Duration = Duration::from_millis(50);
/// So long is waited for it once it is not.
const STOPS_WITHIN: Duration = Duration::from_millis(500);
/// How many keys wait for a page that is busy.
const KEYS: usize = 64;

/// Whether somebody can read the page and press its keys.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The terminal, taken over. It is given back with this value, also by a panic.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    keys: mpsc::Receiver<io::Result<Event>>,
    keyboard: Keyboard,
    _before: Before,
}

/// The thread that waits for keys.
struct Keyboard {
    gone: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    pub(crate) fn take() -> io::Result<Self> {
        // From here on whatever fails gives the terminal back.
        let before = Before;
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let (sender, keys) = mpsc::channel(KEYS);
        Ok(Self { keyboard: Keyboard::listen(sender)?, terminal, keys, _before: before })
    }

    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// The next key, paste or change of size.
    pub(crate) async fn next(&mut self) -> io::Result<Event> {
        match self.keys.recv().await {
            Some(event) => event,
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    }

    /// Forgets the keys that were pressed while nobody listened: they were meant for what the page showed then.
    pub(crate) fn forget_keys(&mut self) {
        while self.keys.try_recv().is_ok() {}
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // First the thread, so that what is typed from here on is the shell's.
        self.keyboard.stop();
    }
}

/// The terminal as it was before.
struct Before;

impl Drop for Before {
    fn drop(&mut self) {
        // There is nobody left to be told that it did not work.
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, ratatui::crossterm::cursor::Show);
        let _ = disable_raw_mode();
    }
}

impl Keyboard {
    fn listen(sender: mpsc::Sender<io::Result<Event>>) -> io::Result<Self> {
        let gone = Arc::new(AtomicBool::new(false));
        let is_gone = Arc::clone(&gone);
        let thread = std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            while !is_gone.load(Ordering::Relaxed) {
                let event = match poll(WANTED) {
                    Ok(false) => continue,
                    Ok(true) => read(),
                    Err(error) => Err(error),
                };
                let failed = event.is_err();
                // What does not fit is lost: whoever types ahead of a busy page does not see what he types at.
                let is_heard = !matches!(sender.try_send(event), Err(mpsc::error::TrySendError::Closed(_)));
                if failed || !is_heard {
                    break;
                }
            }
        })?;
        Ok(Self { gone, thread: Some(thread) })
    }

    fn stop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return };
        // On a terminal that was closed it waits for ever; it ends with the process.
        for _ in 0..STOPS_WITHIN.as_millis() / WANTED.as_millis() {
            if thread.is_finished() {
                break;
            }
            std::thread::sleep(WANTED);
        }
    }
}
