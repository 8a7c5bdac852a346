//! A source text as words, marks and plain comments; strings, characters and doc comments are passed over.

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Word(String),
    Mark(char),
    /// What stands behind `//`, unless the comment is documentation.
    Comment(String),
}

/// The pieces of a text, each with its line, counted from 1.
pub(super) fn pieces(text: &str) -> Vec<(usize, Piece)> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut pieces = Vec::new();
    while let Some(first) = reader.rest.chars().next() {
        let line = reader.line;
        if let Some(piece) = reader.next(first) {
            pieces.push((line, piece));
        }
    }
    pieces
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self, first: char) -> Option<Piece> {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            let comment = &self.rest[2..end];
            let is_doc = comment.starts_with('!') || comment.starts_with('/') && !comment.starts_with("//");
            let comment = comment.trim().to_owned();
            self.skip(end);
            return (!is_doc).then_some(Piece::Comment(comment));
        }
        if self.rest.starts_with("/*") {
            self.skip_block_comment();
            return None;
        }
        if is_word(first) {
            let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
            let word = self.rest[..end].to_owned();
            self.skip(end);
            let is_prefix = matches!(word.as_str(), "r" | "b" | "br" | "c" | "cr");
            if is_prefix && self.skip_raw_string(word.contains('r')) {
                return None;
            }
            return Some(Piece::Word(word));
        }
        match first {
            '"' => self.skip_string(),
            '\'' => self.skip_character(),
            _ if first.is_whitespace() => self.skip(first.len_utf8()),
            _ => {
                self.skip(first.len_utf8());
                return Some(Piece::Mark(first));
            }
        }
        None
    }

    /// After a prefix: the string that follows, if one does.
    fn skip_raw_string(&mut self, is_raw: bool) -> bool {
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        if !self.rest[hashes..].starts_with('"') || !is_raw && hashes > 0 {
            return false;
        }
        if is_raw {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = hashes + 1;
            let end = self.rest[begin..].find(&end).map_or(self.rest.len(), |at| begin + at + end.len());
            self.skip(end);
        } else {
            self.skip_string();
        }
        true
    }

    fn skip_string(&mut self) {
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, letter)| {
            let ends = *letter == '"' && !is_escaped;
            is_escaped = *letter == '\\' && !is_escaped;
            ends
        });
        self.skip(end.map_or(self.rest.len(), |(at, _)| at + 1));
    }

    /// A character, or the mark of a lifetime.
    fn skip_character(&mut self) {
        let mut letters = self.rest.char_indices().skip(1);
        let end = match (letters.next(), letters.next()) {
            (Some((_, '\\')), Some(_)) => letters.find(|(_, letter)| *letter == '\'').map(|(at, _)| at + 1),
            (Some(_), Some((at, '\''))) => Some(at + 1),
            _ => self.rest.char_indices().skip(1).find(|(_, letter)| !is_word(*letter)).map(|(at, _)| at),
        };
        self.skip(end.unwrap_or(self.rest.len()));
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
            } else {
                match self.rest.chars().next() {
                    Some(letter) => self.skip(letter.len_utf8()),
                    None => return,
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}
