//! HTML as it is written: markup is what stands in this program, and everything else is text.

use std::fmt::{Display, Write};

/// A page that is being written. Only what the program itself says can be markup: a text that came from anywhere has no `'static`
/// life, and takes the way through [`Html::text`].
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup of the program's own.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A text, between tags or inside of a quoted attribute: it says what it says, and does nothing.
    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        // A `String` takes whatever is written to it.
        let _ = write!(Escaping(&mut self.0), "{text}");
        self
    }

    /// The page so far.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

struct Escaping<'h>(&'h mut String);

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' => self.0.push('\n'),
                // A control character has no meaning in a page, and a browser may give it one.
                character if character.is_control() => self.0.push('\u{fffd}'),
                character => self.0.push(character),
            }
        }
        Ok(())
    }
}
