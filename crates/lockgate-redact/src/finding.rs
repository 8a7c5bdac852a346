//! What the searchers found, and how it becomes a new text.

use std::ops::Range;

use crate::marker::Tagger;

/// How sure a searcher is of what it found; the surer one names the marker when two overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The words around it say that it is a secret: a key, a header, a URL.
    Context,
    /// It looks like a secret of one kind.
    Shape,
    /// It is a value that the scrubber was told.
    Known,
}

/// One secret in a text.
#[derive(Debug, Clone)]
pub(crate) struct Finding<'a> {
    /// Which bytes of the text go.
    pub(crate) range: Range<usize>,
    /// What kind of secret it is, or a known secret's name.
    pub(crate) label: &'a str,
    pub(crate) rank: Rank,
    /// What the marker's tag is made of: the secret in its plain form.
    pub(crate) value: &'a str,
}

impl<'a> Finding<'a> {
    /// A part of the text that stands for itself.
    pub(crate) fn part(text: &'a str, range: Range<usize>, label: &'a str, rank: Rank) -> Self {
        Self { value: &text[range.clone()], range, label, rank }
    }
}

/// Replaces the findings; `None` when nothing but markers was found.
///
/// Overlapping findings become one. Markers that stand in the text already are never touched, which makes scrubbing
/// idempotent: a finding around a marker is replaced piece by piece.
pub(crate) fn replace(
    text: &str,
    mut findings: Vec<Finding<'_>>,
    markers: &[Range<usize>],
    tagger: &Tagger,
) -> Option<String> {
    findings.sort_by_key(|finding| finding.range.start);
    let mut out = String::new();
    let mut copied = 0;
    let mut marker_index = 0;
    let mut findings = findings.into_iter().peekable();
    while let Some(mut best) = findings.next() {
        let Range { start, mut end } = best.range.clone();
        while let Some(next) = findings.next_if(|next| next.range.start < end) {
            end = end.max(next.range.end);
            if (next.rank, next.range.len()) > (best.rank, best.range.len()) {
                best = next;
            }
        }
        let mut piece_start = start;
        while let Some(marker) = markers.get(marker_index).filter(|marker| marker.start < end) {
            if marker.start > piece_start {
                out.push_str(&text[copied..piece_start]);
                tagger.write(&mut out, best.label, best.value);
                copied = marker.start;
            }
            piece_start = piece_start.max(marker.end);
            if marker.end > end {
                // Not passed yet: the next finding may begin inside this same marker.
                break;
            }
            marker_index += 1;
        }
        if piece_start < end {
            out.push_str(&text[copied..piece_start]);
            tagger.write(&mut out, best.label, best.value);
            copied = end;
        }
    }
    (copied > 0).then(|| {
        out.push_str(&text[copied..]);
        out
    })
}
