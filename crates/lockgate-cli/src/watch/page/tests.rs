//! The page, fed by hand, and what of it is seen.

use lockgate::contract::approval::{Circumstances, Proof, Yes, shown_text};
use lockgate::contract::document::{Document, Limits};
use lockgate::contract::effect::Effect;
use lockgate::contract::ports::Approvers;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use unicode_width::UnicodeWidthStr as _;

use super::*;

fn approval(number: u8, tool: &str, arguments: &str) -> Approval {
    let run_id = RunId::new(format!("run-34c5597139{number:02x}"));
    let arguments = Document::parse(arguments, Limits::ARGUMENTS).unwrap();
    Approval {
        approval_id: ApprovalId::new(format!("apr-0123456789abcd{number:02x}")),
        call_id: run_id.call(1, 0),
        run_id,
        step: 1,
        attempt: 1,
        tool_name: tool.to_owned(),
        tool_version: "1.0".to_owned(),
        definition: Digest::from_bytes([1; 32]),
        arguments_digest: Digest::from_bytes([2; 32]),
        circumstances: Circumstances::default(),
        effect: Effect::External,
        tenant: "demo".to_owned(),
        user: "alice".to_owned(),
        agent: "helper".to_owned(),
        shown_text: shown_text(
            tool,
            "1.0",
            Effect::External,
            ["demo", "alice", "helper"],
            &Circumstances::default(),
            &arguments,
        ),
        arguments,
        digest: Digest::from_bytes([number; 32]),
        because: None,
        approvers: None,
        edited: None,
        requested_at: Timestamp::from_millis(0),
        expires_at: Timestamp::from_millis(600_000 * i64::from(number)),
        state: ApprovalState::Pending,
        yeses: Vec::new(),
        decided_by: None,
        decided_at: None,
        reason: None,
        consumed_at: None,
    }
}

fn three() -> Vec<Approval> {
    let mut pay = approval(2, "pay", r#"{"amount": 9007199254740993.10, "to": "baker\u202e\u200b"}"#);
    pay.approvers = Some(Approvers { roles: vec!["finance".to_owned(), "board".to_owned()], count: 2 });
    pay.because = Some("Payments over 100 need somebody from finance.".to_owned());
    pay.yeses = vec![Yes {
        by: "bob".to_owned(),
        proof: Proof::OsUser,
        roles: vec!["finance".to_owned()],
        at: Timestamp::from_millis(1000),
        reason: Some("known\u{1b}]0;title\u{7}".to_owned()),
    }];
    vec![
        approval(1, "restart_service", r#"{"service": "auth-api"}"#),
        pay,
        approval(3, "日本語の道具", r#"{"text": "絵文字 🎉 混ぜる"}"#),
    ]
}

/// Tells the page what it wishes to hear of these questions, until it wishes nothing more that can be read.
fn tell(page: &mut Page, open: &[Approval], news: News) -> Option<Wish> {
    let mut wish = page.hear(news);
    loop {
        wish = match wish {
            Some(Wish::Show(id)) => {
                let approval = open.iter().find(|approval| approval.approval_id == id).cloned();
                let shown = approval.map(|approval| Shown { approval, before: None });
                page.hear(News::Shown(Box::new(shown)))
            }
            Some(Wish::List) => page.hear(News::Listed(open.iter().map(Question::of).collect())),
            other => return other,
        };
    }
}

fn page(open: &[Approval]) -> Page {
    let mut page = Page::default();
    page.hear(News::Clock(Timestamp::from_millis(2000)));
    assert_eq!(tell(&mut page, open, News::Listed(open.iter().map(Question::of).collect())), None);
    seen(&mut page, 80, 24);
    page
}

fn key(code: KeyCode) -> News {
    News::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Types letters; what the last of them makes the page wish.
fn press(page: &mut Page, open: &[Approval], letters: &str) -> Option<Wish> {
    letters.chars().map(|letter| tell(page, open, key(KeyCode::Char(letter)))).last().flatten()
}

/// What is seen.
fn seen(page: &mut Page, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| page.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let mut text = String::new();
    for row in 0..rows {
        let (mut line, mut column) = (String::new(), 0);
        while column < columns {
            let symbol = buffer[(column, row)].symbol();
            assert!(!symbol.chars().any(char::is_control), "{symbol:?} at {column}, {row}");
            line.push_str(symbol);
            column += u16::try_from(symbol.width().max(1)).unwrap();
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn questions_and_the_one_that_is_pointed_at() {
    let open = three();
    let mut page = page(&open);
    insta::assert_snapshot!("wide", seen(&mut page, 120, 40));
    insta::assert_snapshot!("usual", seen(&mut page, 80, 24));
    press(&mut page, &open, "j");
    insta::assert_snapshot!("second", seen(&mut page, 120, 40));
    press(&mut page, &open, "G");
    insta::assert_snapshot!("narrow", seen(&mut page, 50, 20));
}

#[test]
fn any_size_will_do() {
    let open = three();
    let mut page = page(&open);
    insta::assert_snapshot!("tiny", seen(&mut page, 20, 5));
    // What is not seen is not decided.
    press(&mut page, &open, "a");
    assert!(matches!(page.mode, Mode::Browsing));
    seen(&mut page, 80, 24);
    for mode in ["", "a", "d", "?"] {
        press(&mut page, &open, mode);
        for columns in [1, 2, 3, 19, 20, 59, 60, 61, 200] {
            for rows in [1, 2, 3, 5, 9, 10, 11, 60] {
                seen(&mut page, columns, rows);
            }
        }
        tell(&mut page, &open, key(KeyCode::Esc));
    }
    seen(&mut Page::default(), 80, 24);
}

#[test]
fn nothing_of_a_models_drives_the_terminal() {
    let evil = "x\u{1b}[2J\u{1b}]0;gone\u{7}\u{9b}31m\u{202e}\u{200b}\r\n\u{8}";
    let mut asked = approval(1, evil, &format!("{{{0}: {0}}}", serde_json::Value::from(evil)));
    asked.because = Some(evil.to_owned());
    asked.approvers = Some(Approvers { roles: vec![evil.to_owned()], count: 1 });
    asked.run_id = RunId::new("run-1");
    let open = [asked];
    let mut page = page(&open);
    let text = seen(&mut page, 200, 60);
    assert!(text.contains("\\u{1b}") && text.contains("\\u{202e}"), "{text}");
    press(&mut page, &open, "a");
    assert!(seen(&mut page, 200, 20).contains("approve x\\u{1b}[2J"));
    tell(&mut page, &open, key(KeyCode::Esc));
    tell(&mut page, &open, News::Failed(evil.to_owned()));
    let text = seen(&mut page, 200, 60);
    let hidden = |character: char| matches!(character, '\u{202e}' | '\u{200b}' | '\u{9b}' | '\u{1b}' | '\r');
    assert!(!text.contains(hidden), "{text:?}");
}

#[test]
fn a_decision_takes_two_keys_and_is_about_what_was_shown() {
    let open = three();
    let mut page = page(&open);
    assert_eq!(press(&mut page, &open, "a"), None);
    insta::assert_snapshot!("asked_again", seen(&mut page, 80, 24));
    // Whatever comes meanwhile, the question that was asked about stays the one.
    tell(&mut page, &open, News::Listed(open.iter().skip(1).map(Question::of).collect()));
    let Some(Wish::Decide(decision)) = press(&mut page, &open, "y") else { panic!("{page:?}") };
    assert_eq!(
        (&decision.id, decision.digest, decision.state),
        (&open[0].approval_id, open[0].digest, ApprovalState::Granted)
    );
    // No key counts while it is on its way, not even the same.
    assert_eq!(press(&mut page, &open, "yyayq"), None);
    assert_eq!(page.hear(News::Decided("granted\nto go on:\n  lockgate runs resume".to_owned())), Some(Wish::List));
    assert!(seen(&mut page, 80, 24).ends_with("granted\nto go on:\n  lockgate runs resume\n"));

    for other in ["n", "a", "q", "Y"] {
        press(&mut page, &open, "a");
        assert_eq!(press(&mut page, &open, other), None, "{other}");
        assert!(seen(&mut page, 80, 24).contains("nothing was decided"));
    }
    assert_eq!(press(&mut page, &open, "y"), None);
    press(&mut page, &open, "w");
    assert!(matches!(
        press(&mut page, &open, "y"),
        Some(Wish::Decide(Decision { state: ApprovalState::Withdrawn, .. }))
    ));
}

#[test]
fn a_no_asks_why() {
    let open = three();
    let mut page = page(&open);
    press(&mut page, &open, "dNot now, q");
    tell(&mut page, &open, key(KeyCode::Backspace));
    // A line break in what is pasted sends nothing.
    tell(&mut page, &open, News::Pasted("y\ny".to_owned()));
    assert!(seen(&mut page, 80, 24).contains("why not? Not now, y y█"));
    tell(&mut page, &open, key(KeyCode::Enter));
    assert!(seen(&mut page, 80, 24).contains("deny restart_service 1.0 of run-34c559713901, because: Not now, y y?"));
    let Some(Wish::Decide(decision)) = press(&mut page, &open, "y") else { panic!("{page:?}") };
    assert_eq!((decision.state, decision.reason.as_deref()), (ApprovalState::Denied, Some("Not now, y y")));
    page.hear(News::Failed("refused".to_owned()));

    press(&mut page, &open, "d");
    tell(&mut page, &open, key(KeyCode::Enter));
    assert!(matches!(press(&mut page, &open, "y"), Some(Wish::Decide(Decision { reason: None, .. }))));
    page.hear(News::Failed("refused".to_owned()));
    press(&mut page, &open, "d");
    tell(&mut page, &open, key(KeyCode::Esc));
    tell(&mut page, &open, News::Pasted("ay".to_owned()));
    assert!(matches!(page.mode, Mode::Browsing));
    press(&mut page, &open, &format!("d{}", "x".repeat(5000)));
    let Mode::Reasoning(_, reason) = &page.mode else { panic!("{page:?}") };
    assert_eq!(reason.len(), REASON);
}

#[test]
fn what_cannot_be_read_yet_is_not_decided() {
    let open = three();
    let mut page = Page::default();
    seen(&mut page, 80, 24);
    let listed = page.hear(News::Listed(open.iter().map(Question::of).collect()));
    assert_eq!(listed, Some(Wish::Show(open[0].approval_id.clone())));
    for letter in ["a", "d", "w"] {
        press(&mut page, &[], letter);
        assert!(matches!(page.mode, Mode::Browsing), "{letter}");
    }
    // The answer to a wish of before is not what is pointed at now.
    page.hear(key(KeyCode::Down));
    page.hear(News::Shown(Box::new(Some(Shown { approval: open[0].clone(), before: None }))));
    press(&mut page, &[], "a");
    assert!(matches!(page.mode, Mode::Browsing));
}

#[test]
fn the_question_stays_pointed_at_wherever_it_stands() {
    let mut open = three();
    let mut page = page(&open);
    press(&mut page, &open, "j");
    open.remove(0);
    tell(&mut page, &open, News::Listed(open.iter().map(Question::of).collect()));
    assert_eq!(page.pointed_at().unwrap().tool, "pay 1.0");
    // One more yes: it is read again.
    let yes = open[0].yeses[0].clone();
    open[0].yeses.push(yes);
    let heard = page.hear(News::Listed(open.iter().map(Question::of).collect()));
    assert_eq!(heard, Some(Wish::Show(open[0].approval_id.clone())));
    open.clear();
    tell(&mut page, &open, News::Listed(Vec::new()));
    assert!(seen(&mut page, 80, 24).contains("nobody is asked anything"));
    assert_eq!(press(&mut page, &open, "jkgGa"), None);
    assert_eq!(press(&mut page, &open, "q"), Some(Wish::Quit));
}

#[test]
fn many_questions_take_little_room() {
    let long = "n".repeat(5000);
    let asked = approval(1, &long, &format!("{{\"text\": \"{}\"}}", "t".repeat(60_000)));
    let line = Question::of(&asked);
    let many: Vec<Question> =
        (0..10_005).map(|number| Question { id: ApprovalId::new(format!("apr-{number}")), ..line.clone() }).collect();
    let mut page = Page::default();
    page.hear(News::Listed(many));
    assert_eq!((page.questions.len(), page.more), (LISTED, 5));
    let room = |question: &Question| question.id.as_str().len() + question.tool.len() + question.who.len();
    assert!(page.questions.iter().map(room).sum::<usize>() < LISTED * 200);
    page.hear(key(KeyCode::End));
    let text = seen(&mut page, 80, 24);
    assert!(text.starts_with("10005 open questions, 5 of them not listed\n"), "{text}");
}

/// What does not fit is said to be there, and what is the rest of a line does not pass for another.
#[test]
fn a_long_question_is_read_on() {
    let text = format!("{}expires     never", " ".repeat(60));
    let long = approval(1, "send", &format!("{{\"text\": \"{text}\", \"lines\": [{}0]}}", "1, ".repeat(40)));
    let open = [long];
    let mut page = page(&open);
    insta::assert_snapshot!("long", seen(&mut page, 80, 24));
    for _ in 0..20 {
        press(&mut page, &open, " ");
    }
    let end = seen(&mut page, 80, 24);
    assert!(end.contains("(in 9m 58s") && !end.contains("more line"), "{end}");
    // From beyond the end one key goes back.
    press(&mut page, &open, "b");
    assert_ne!(seen(&mut page, 80, 24), end);
}

#[test]
fn it_can_be_left_and_explained() {
    let open = three();
    let mut page = page(&open);
    press(&mut page, &open, "?");
    insta::assert_snapshot!("help", seen(&mut page, 80, 24));
    press(&mut page, &open, "x");
    let leave = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    press(&mut page, &open, "d");
    assert_eq!(page.hear(News::Key(leave)), Some(Wish::Quit));
    let released = KeyEvent { kind: KeyEventKind::Release, ..KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE) };
    assert_eq!(page.hear(News::Key(released)), None);
}
