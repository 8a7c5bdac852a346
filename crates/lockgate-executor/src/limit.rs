//! The size limit of a released output: head and tail stay, the whole is kept under a handle.

use std::borrow::Cow;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Node};
use lockgate_contract::effect::OutputForm;
use lockgate_contract::ids::ArtifactId;
use lockgate_contract::ports::StoredArtifact;
use serde::Serialize;

/// An output that was too large.
pub(crate) struct Shortened {
    /// A text: the head, a notice, the tail. Of content, a block with it.
    pub(crate) data: Document,
    /// Bytes of the whole text that are in neither.
    pub(crate) truncated_bytes: u64,
    /// Characters of the whole text that are in neither.
    pub(crate) truncated_chars: u64,
    /// The whole text.
    pub(crate) artifact: StoredArtifact,
}

/// Cuts an output whose text is larger than `max_bytes`; 0 means no limit. The text of a string is what it says, of
/// anything else its JSON; of content, what is no text (images, audio, files) neither counts nor is cut.
pub(crate) fn shorten(output: &Document, form: OutputForm, max_bytes: usize) -> Option<Shortened> {
    if max_bytes == 0 || output.text().len() <= max_bytes {
        return None;
    }
    match form {
        OutputForm::Value => {
            let text = output.root().as_str().map_or_else(|| output.text().to_owned(), Cow::into_owned);
            (text.len() > max_bytes).then(|| cut(&text.clone(), 0, text, max_bytes, Document::string))
        }
        OutputForm::Content => {
            let content = Content::of(output);
            (output.text().len() - content.other_bytes > max_bytes).then(|| {
                cut(&content.text, content.structured_bytes, output.text().to_owned(), max_bytes, |shown| {
                    content.with(shown)
                })
            })
        }
    }
}

/// Cuts `text`, by which `whole` is shown, but for so many bytes of it.
fn cut(
    text: &str,
    not_shown: usize,
    whole: String,
    max_bytes: usize,
    show: impl FnOnce(&str) -> Document,
) -> Shortened {
    let artifact_id = ArtifactId::new(format!("art-{}", Digest::of_text("lockgate.artifact.v1", &whole).short(16)));
    // Of everything, so that no digit comes on top; where no notice fits, a mark must do: `meta` says the rest.
    let longest = notice(whole.len(), &artifact_id);
    let room = max_bytes.saturating_sub(longest.len()).min(text.len());
    let head = text.floor_char_boundary(room - room / 3);
    let tail = text.ceil_char_boundary(text.len() - room / 3);
    let left_out = &text[head..tail];
    let shown = match max_bytes {
        _ if longest.len() <= max_bytes => {
            format!("{}{}{}", &text[..head], notice(not_shown + left_out.len(), &artifact_id), &text[tail..])
        }
        3.. => "…".to_owned(),
        _ => String::new(),
    };
    Shortened {
        data: show(&shown),
        truncated_bytes: (not_shown + left_out.len()) as u64,
        truncated_chars: left_out.chars().count() as u64,
        artifact: StoredArtifact { artifact_id, text: whole },
    }
}

fn notice(left_out: usize, artifact: &ArtifactId) -> String {
    format!("\n[… {left_out} bytes left out; the whole is artifact {artifact} …]\n")
}

/// Content, taken apart.
struct Content<'a> {
    /// What its blocks say, one under the other; the structured content where they say nothing.
    text: String,
    /// The blocks that are no text.
    others: Vec<Node<'a>>,
    /// The bytes of those, which nobody reads as text.
    other_bytes: usize,
    /// The bytes of the structured content, where the blocks stand for it.
    structured_bytes: usize,
    is_error: Option<bool>,
}

impl<'a> Content<'a> {
    fn of(output: &'a Document) -> Self {
        let root = output.root();
        let (mut texts, mut others, mut other_bytes) = (Vec::new(), Vec::new(), 0);
        for block in root.get("content").into_iter().flat_map(|content| content.elements()) {
            let text = block.get("text").or_else(|| block.pointer("/resource/text")).and_then(|text| text.as_str());
            if let Some(text) = text {
                texts.push(text);
            } else {
                other_bytes += block.raw().len();
                others.push(block);
            }
        }
        let structured = root.get("structuredContent").map_or("", |structured| structured.raw());
        let structured_bytes = if texts.is_empty() { 0 } else { structured.len() };
        if texts.is_empty() {
            texts.push(Cow::Borrowed(structured));
        }
        let is_error = root.get("isError").and_then(|is_error| is_error.as_bool());
        Self { text: texts.join("\n"), others, other_bytes, structured_bytes, is_error }
    }

    /// The same with this text in place of all that was text. A structured content that was cut would no longer be of its
    /// schema's form: it is left out.
    fn with(&self, text: &str) -> Document {
        #[derive(Serialize)]
        struct Shown<'s> {
            content: Vec<Block<'s>>,
            #[serde(rename = "isError", skip_serializing_if = "Option::is_none")]
            is_error: Option<bool>,
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Block<'s> {
            Text { r#type: &'static str, text: &'s str },
            Other(Node<'s>),
        }
        let text_block = Block::Text { r#type: "text", text };
        let content = std::iter::once(text_block).chain(self.others.iter().copied().map(Block::Other)).collect();
        let shown = Shown { content, is_error: self.is_error };
        // INVARIANT: these are texts, and blocks that were read; no block stands deeper than it did.
        Document::from_serialize(&shown).unwrap_or_else(|_| Document::string(text))
    }
}

#[cfg(test)]
mod tests;
