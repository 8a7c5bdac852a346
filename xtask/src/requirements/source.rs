//! A Rust source file as far as tags need it: its functions, which of them are tests, what they mention, and the comments
//! inside of them.
//!
//! Comments are not part of a syntax tree, and the functions that `proptest!` holds are not items of one; so this reads the
//! text itself. It knows strings, characters, comments, attributes and brackets, and nothing of types.

mod text;

use std::collections::BTreeSet;

use text::{Piece, pieces};

/// What a file declares.
#[derive(Default)]
pub(super) struct Source {
    pub(super) items: Vec<Item>,
    /// `#[cfg(test)] mod name;`: files that are test code.
    pub(super) test_modules: Vec<Vec<String>>,
    /// Plain comments outside of every item.
    pub(super) loose: Vec<Note>,
}

/// A function, a constant, or a macro and what is handed to it.
pub(super) struct Item {
    /// The modules inside of the file, then the name.
    pub(super) path: Vec<String>,
    pub(super) kind: Kind,
    /// It can be used outside of its module.
    pub(super) is_public: bool,
    /// It stands in an inline `#[cfg(test)]` module.
    pub(super) in_test_module: bool,
    /// What it calls or names with a path; of a macro's input, every word.
    pub(super) mentions: BTreeSet<String>,
    pub(super) notes: Vec<Note>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A function that the test runner runs.
    Test,
    /// A function or a constant that others use.
    Shared,
    /// A macro whose expansion holds tests.
    TestMacro,
    /// Input of a macro at the level of items.
    Input,
}

/// A plain comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Note {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Source {
    pub(super) fn parse(text: &str) -> Self {
        let mut reader = Reader { pieces: pieces(text), ..Reader::default() };
        for at in 0..reader.pieces.len() {
            reader.step(at);
        }
        reader.source
    }
}

#[derive(Default)]
struct Reader {
    pieces: Vec<(usize, Piece)>,
    source: Source,
    /// One entry an open bracket of any kind.
    open: Vec<Open>,
    /// The words of each attribute since the last item.
    attributes: Vec<Vec<String>>,
    /// `pub` was read since the last item.
    is_public: bool,
    /// The item or module whose block has not begun, and the depth at which it was named.
    announced: Option<(usize, Open)>,
    /// The constant that is being read, and the depth at which it ends.
    constant: Option<(usize, usize)>,
    /// Pieces that belong to an attribute are passed over until here.
    attribute_end: usize,
}

enum Open {
    Module { name: String, is_test: bool },
    Item(usize),
    Other,
}

impl Reader {
    fn step(&mut self, at: usize) {
        if at < self.attribute_end {
            return;
        }
        let (line, piece) = self.pieces[at].clone();
        match piece {
            Piece::Comment(text) => self.note(Note { line, text }),
            Piece::Mark('#') if self.mark(at + 1, '[') => self.attribute(at + 2),
            Piece::Mark('{' | '(' | '[') => self.open_bracket(piece == Piece::Mark('{')),
            Piece::Mark('}' | ')' | ']') => {
                self.open.pop();
                if piece == Piece::Mark('}') {
                    self.forget();
                }
            }
            Piece::Mark(';' | ',') => self.end_statement(piece == Piece::Mark(';')),
            Piece::Mark(_) => {}
            Piece::Word(word) => self.word(at, &word),
        }
    }

    fn word(&mut self, at: usize, word: &str) {
        let named = match self.pieces.get(at + 1) {
            Some((_, Piece::Word(name))) => Some(name.clone()),
            _ => None,
        };
        self.is_public |= word == "pub";
        match (word, named) {
            ("mod", Some(name)) => {
                let is_test = self.attributes.iter().any(|words| words[..] == ["cfg", "test"]);
                if self.mark(at + 2, ';') && is_test {
                    let mut path = self.modules();
                    path.push(name.clone());
                    self.source.test_modules.push(path);
                }
                self.announced = Some((self.open.len(), Open::Module { name, is_test }));
            }
            ("fn", Some(name)) => {
                let is_ignored = self.attributes.iter().any(|words| words.first().is_some_and(|word| word == "ignore"));
                let is_test = self.attributes.iter().any(|words| is_test(words)) && !is_ignored;
                let item = self.begin(name, if is_test { Kind::Test } else { Kind::Shared });
                self.announced = Some((self.open.len(), Open::Item(item)));
            }
            ("const" | "static", Some(name)) if self.item().is_none() && self.announced.is_none() && name != "fn" => {
                let item = self.begin(name, Kind::Shared);
                self.constant = Some((self.open.len(), item));
            }
            ("macro_rules", _) => {
                if let Some((_, Piece::Word(name))) = self.pieces.get(at + 2).cloned() {
                    let item = self.begin(format!("{name}!"), Kind::Shared);
                    self.announced = Some((self.open.len(), Open::Item(item)));
                }
            }
            // The input of `proptest!` holds functions of its own; that of a macro of ours may name what becomes tests.
            (name, _) if self.mark(at + 1, '!') && self.item().is_none() && self.announced.is_none() => {
                let item = self.begin(format!("{name}!"), Kind::Input);
                self.announced = Some((self.open.len(), Open::Item(item)));
            }
            _ => {}
        }
        let is_input = self.item().is_some_and(|item| self.source.items[item].kind == Kind::Input);
        let is_called = self.mark(at + 1, '(') || at > 0 && self.mark(at - 1, ':');
        let is_constant = word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        let mention = match self.mark(at + 1, '!') {
            true => format!("{word}!"),
            false if is_input || is_called || is_constant => word.to_owned(),
            false => return,
        };
        if let Some(item) = self.item() {
            self.source.items[item].mentions.insert(mention);
        }
    }

    fn begin(&mut self, name: String, kind: Kind) -> usize {
        let mut path = self.modules();
        path.push(name);
        let in_test_module = self.open.iter().any(|open| matches!(open, Open::Module { is_test: true, .. }));
        let item = Item {
            path,
            kind,
            is_public: self.is_public,
            in_test_module,
            mentions: BTreeSet::new(),
            notes: Vec::new(),
        };
        self.forget();
        self.source.items.push(item);
        self.source.items.len() - 1
    }

    /// The innermost item that is open.
    fn item(&self) -> Option<usize> {
        let block = self.open.iter().rev().find_map(|open| match open {
            Open::Item(item) => Some(*item),
            _ => None,
        });
        block.or(self.constant.map(|(_, item)| item))
    }

    fn modules(&self) -> Vec<String> {
        let name = |open: &Open| match open {
            Open::Module { name, .. } => Some(name.clone()),
            _ => None,
        };
        self.open.iter().filter_map(name).collect()
    }

    fn note(&mut self, note: Note) {
        match self.item() {
            Some(item) => self.source.items[item].notes.push(note),
            None => self.source.loose.push(note),
        }
    }

    fn open_bracket(&mut self, is_block: bool) {
        let is_input = match &self.announced {
            Some((_, Open::Item(item))) => self.source.items[*item].kind == Kind::Input,
            _ => false,
        };
        let announced = self.announced.take_if(|(depth, _)| *depth == self.open.len() && (is_block || is_input));
        self.open.push(announced.map_or(Open::Other, |(_, open)| open));
        if is_block {
            self.forget();
        }
    }

    /// A `;` or `,`: what was announced has no block, and a constant ends.
    fn end_statement(&mut self, is_end: bool) {
        self.forget();
        let depth = self.open.len();
        if is_end {
            self.announced.take_if(|(at, _)| *at == depth);
            self.constant.take_if(|(at, _)| *at == depth);
        }
    }

    /// What stood before an item says nothing about the next.
    fn forget(&mut self) {
        self.attributes.clear();
        self.is_public = false;
    }

    /// Reads the attribute whose words begin here.
    fn attribute(&mut self, begin: usize) {
        let (mut depth, mut words, mut at) = (1, Vec::new(), begin);
        while let Some((_, piece)) = self.pieces.get(at).filter(|_| depth > 0) {
            match piece {
                Piece::Mark('[') => depth += 1,
                Piece::Mark(']') => depth -= 1,
                Piece::Word(word) => words.push(word.clone()),
                _ => {}
            }
            at += 1;
        }
        self.attribute_end = at;
        let is_test = is_test(&words);
        if let Some(item) = self.item().filter(|_| is_test) {
            // A test inside of a macro's own text.
            let item = &mut self.source.items[item];
            if item.kind == Kind::Shared {
                item.kind = Kind::TestMacro;
            }
        }
        self.attributes.push(words);
    }

    fn mark(&self, at: usize, mark: char) -> bool {
        self.pieces.get(at).is_some_and(|(_, piece)| *piece == Piece::Mark(mark))
    }
}

/// `#[test]`, or `#[tokio::test]` with any options.
fn is_test(attribute: &[String]) -> bool {
    matches!(attribute, [only] if only == "test")
        || matches!(attribute, [tokio, test, ..] if tokio == "tokio" && test == "test")
}
