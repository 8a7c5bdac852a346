//! The page as cells of a terminal. Every text of others' is made harmless here or before.

use anstream::adapter::strip_str;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthChar as _;

use super::page::{Mode, Page, Question};
use crate::render::approval::{show, span};
use crate::render::text::{counted, harmless, one_line, width};

const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const POINTED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// From here on list and question stand side by side.
const WIDE: u16 = 60;
/// Below these there is room for the list alone.
const LOW: u16 = 10;
const NARROW: u16 = 30;

const KEYS: &str = "a approve  d deny  w withdraw  j/k move  space read on  ? help  q quit";
/// Where there is no room for all of them.
const FEW_KEYS: &str = "? help  q quit";

/// In front of what is the rest of a line: nothing else begins so, and no text can pass for a line that it is not.
const GOES_ON: &str = "\u{21aa} ";

const HELP: &str = "\
j, k, arrows   the next question, the one before
g, G           the first, the last
space, b       read on in the question, and back
a              approve: the call may run once
d              deny: asks why, enter goes on
w              withdraw the question
r              read the list again; it is read every second
q              quit

Each decision asks for a second key. Nothing runs by it: resuming the run does, or a worker.
Other arguments are approved with `lockgate approvals approve ID --edit FILE`.

Any key goes back.";

/// Draws the page. Returns how many lines of the question have gone by, no more than there are; nothing where there is no room
/// for the question.
pub(super) fn draw(page: &Page, frame: &mut Frame<'_>) -> Option<usize> {
    let area = frame.area();
    let below = below(page, area);
    let [head, middle, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(rows(below.len()))])
            .areas(area);
    frame.render_widget(Paragraph::new(Line::styled(heading(page, head.width), STRONG)), head);
    let mut scrolled = Some(page.scroll);
    if matches!(page.mode, Mode::Help) {
        let lines = by_words(HELP, middle.width);
        frame.render_widget(Paragraph::new(lines.into_iter().map(Line::raw).collect::<Vec<_>>()), middle);
    } else if area.height < LOW || area.width < NARROW {
        list(page, frame, middle);
        scrolled = None;
    } else if area.width >= WIDE {
        let [left, _, right] =
            Layout::horizontal([Constraint::Percentage(40), Constraint::Length(1), Constraint::Min(0)]).areas(middle);
        list(page, frame, left);
        scrolled = Some(question(page, frame, right));
    } else {
        let [top, bottom] = Layout::vertical([Constraint::Percentage(35), Constraint::Min(0)]).areas(middle);
        list(page, frame, top);
        scrolled = Some(question(page, frame, bottom));
    }
    frame.render_widget(Paragraph::new(below), foot);
    scrolled
}

fn heading(page: &Page, columns: u16) -> String {
    let open = page.questions.len() + page.more;
    let more = if page.more > 0 { format!(", {} of them not listed", page.more) } else { String::new() };
    one_line(&format!("{}{more}", counted(open as u64, "open question")), columns.into())
}

/// Two rows a question; as many as there is room for, around the one that is pointed at.
fn list(page: &Page, frame: &mut Frame<'_>, area: Rect) {
    if page.questions.is_empty() {
        frame.render_widget(Paragraph::new(Line::styled("nobody is asked anything", FAINT)), area);
        return;
    }
    let fits = usize::from(area.height / 2).max(1);
    let first = page.place - page.place % fits;
    let mut lines = Vec::with_capacity(fits * 2);
    for (place, question) in page.questions.iter().enumerate().skip(first).take(fits) {
        let is_pointed_at = place == page.place;
        let mark = if is_pointed_at { ">" } else { " " };
        let (above, under) = said(question, page, area.width.saturating_sub(2).into());
        lines.push(Line::styled(format!("{mark} {above}"), if is_pointed_at { POINTED } else { STRONG }));
        lines.push(Line::styled(format!("  {under}"), FAINT));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn said(question: &Question, page: &Page, columns: usize) -> (String, String) {
    let left = question.expires_at.since(page.now).as_secs();
    let left = if left == 0 { "too late".to_owned() } else { span(left) };
    let above = format!("{left}  {}  {}", question.effect, question.tool);
    let yeses = format!("{} of {} yes", question.yeses, question.needed);
    let under = format!("{yeses}  {}  {}", question.who, question.run);
    (short(&above, columns), short(&under, columns))
}

/// Everything about the question that is pointed at.
fn question(page: &Page, frame: &mut Frame<'_>, area: Rect) -> usize {
    let Some(shown) = page.legible() else {
        return 0;
    };
    let text = show(&shown.approval, shown.before.as_ref(), page.now);
    let lines = folded(&strip_str(&text).to_string(), area.width);
    let room = usize::from(area.height);
    let above = page.scroll.min(lines.len().saturating_sub(room));
    let below = lines.len() - above;
    let mut window: Vec<_> = lines.into_iter().skip(above).take(room).map(Line::raw).collect();
    if below > room {
        // Nobody is to take a part of a question for all of it.
        window.truncate(room.saturating_sub(1));
        let more = counted((below - window.len()) as u64, "more line");
        window.push(Line::styled(format!("{more}: space"), STRONG.fg(Color::Yellow)));
    }
    frame.render_widget(Paragraph::new(window), area);
    above
}

/// What is asked or told, at most a third of the page, and the keys.
fn below(page: &Page, area: Rect) -> Vec<Line<'static>> {
    let most = usize::from(area.height / 3).max(1);
    let (text, style) = match (&page.mode, &page.notice) {
        (Mode::Confirming(decision), _) => (decision.asked(), STRONG.fg(Color::Yellow)),
        (Mode::Reasoning(_, reason), _) => (format!("why not? {reason}\u{2588}"), STRONG.fg(Color::Yellow)),
        (Mode::Sending, _) => ("…".to_owned(), FAINT),
        (_, Some(notice)) => (notice.text.clone(), STRONG.fg(if notice.is_bad { Color::Red } else { Color::Green })),
        (Mode::Browsing | Mode::Help, None) => {
            (if KEYS.len() > area.width.into() { FEW_KEYS } else { KEYS }.to_owned(), FAINT)
        }
    };
    let mut lines = by_words(&text, area.width);
    if matches!(page.mode, Mode::Reasoning(..)) {
        // The end is where somebody types.
        lines.drain(..lines.len().saturating_sub(most));
    } else if lines.len() > most && matches!(page.mode, Mode::Browsing | Mode::Help) {
        lines.truncate(most);
    }
    lines.into_iter().map(|line| Line::styled(line, style)).collect()
}

/// Harmless lines, none of them wider than this: what is longer goes on in the next one, marked and as far to the right.
fn folded(text: &str, columns: u16) -> Vec<String> {
    let columns = usize::from(columns).max(1);
    let mut lines = Vec::new();
    for line in text.lines().map(harmless) {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let start = format!("{}{GOES_ON}", " ".repeat(blanks));
        // Where hardly anything would fit behind it there is no room to be careful.
        let start = if width(&start) + 8 > columns { "" } else { start.as_str() };
        fold(&line, columns, start, |_| None, &mut lines);
    }
    lines
}

/// Harmless lines of plain words, which are not cut where it can be avoided.
fn by_words(text: &str, columns: u16) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines().map(harmless) {
        fold(&line, usize::from(columns).max(1), "", |row| row.rfind(' ').map(|at| at + 1), &mut lines);
    }
    lines
}

/// Cuts a line into rows. `cut` says where a full row is better cut than at its end.
fn fold(line: &str, columns: usize, start: &str, cut: impl Fn(&str) -> Option<usize>, rows: &mut Vec<String>) {
    let (mut row, mut used, begins) = (String::new(), 0, width(start));
    for character in line.replace('\t', "    ").chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide > columns && used > begins {
            let rest = row.split_off(cut(&row).unwrap_or(row.len()));
            rows.push(std::mem::take(&mut row));
            row = format!("{start}{rest}");
            used = width(&row);
        }
        row.push(character);
        used += wide;
    }
    rows.push(row);
}

/// A text that is harmless already, cut to so many columns.
fn short(text: &str, columns: usize) -> String {
    folded(text, u16::try_from(columns).unwrap_or(u16::MAX)).into_iter().next().unwrap_or_default()
}

fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
