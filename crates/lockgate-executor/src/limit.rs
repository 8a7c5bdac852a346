//! The size limit of a released output: head and tail stay, the whole is kept under a handle.

use std::borrow::Cow;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::ids::ArtifactId;
use lockgate_contract::ports::StoredArtifact;

/// An output that was too large.
pub(crate) struct Shortened {
    /// A text: the head, a notice, the tail.
    pub(crate) data: Document,
    /// Bytes of the whole text that are in neither.
    pub(crate) truncated_bytes: u64,
    /// Characters of the whole text that are in neither.
    pub(crate) truncated_chars: u64,
    /// The whole text.
    pub(crate) artifact: StoredArtifact,
}

/// Cuts an output whose text is larger than `max_bytes`; 0 means no limit. The text of a string is what it says, of
/// anything else its JSON.
pub(crate) fn shorten(output: &Document, max_bytes: usize) -> Option<Shortened> {
    if max_bytes == 0 || output.text().len() <= max_bytes {
        return None;
    }
    let text = output.root().as_str().map_or_else(|| output.text().to_owned(), Cow::into_owned);
    if text.len() <= max_bytes {
        return None;
    }
    let artifact_id = ArtifactId::new(format!("art-{}", Digest::of_text("lockgate.artifact.v1", &text).short(16)));
    // Of everything, so that no digit comes on top; where no notice fits, a mark must do: `meta` says the rest.
    let whole = notice(text.len(), &artifact_id);
    let room = max_bytes.saturating_sub(whole.len());
    let head = text.floor_char_boundary(room - room / 3);
    let tail = text.ceil_char_boundary(text.len() - room / 3);
    let left_out = &text[head..tail];
    let shown = match max_bytes {
        _ if whole.len() <= max_bytes => {
            format!("{}{}{}", &text[..head], notice(left_out.len(), &artifact_id), &text[tail..])
        }
        3.. => "…".to_owned(),
        _ => String::new(),
    };
    Some(Shortened {
        data: Document::string(&shown),
        truncated_bytes: left_out.len() as u64,
        truncated_chars: left_out.chars().count() as u64,
        artifact: StoredArtifact { artifact_id, text },
    })
}

fn notice(left_out: usize, artifact: &ArtifactId) -> String {
    format!("\n[… {left_out} bytes left out; the whole is artifact {artifact} …]\n")
}

#[cfg(test)]
mod tests;
