//! The redactor: searchers in, one new text out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use lockgate_contract::document::Document;
use lockgate_contract::ports::Redactor;
use sha2::{Digest, Sha256};

use crate::document;
use crate::effort::Effort;
use crate::finding::{Finding, Rank, replace};
use crate::key_names::KeyKind;
use crate::known::KnownValues;
use crate::learned::LearnedSecrets;
use crate::marker::{self, Tagger};
use crate::prefilter::{Prefilter, Trigger};
use crate::rules::CompiledRule;
use crate::structural::{assignment, authorization, pem, url};

/// Finds secrets and puts a marker, `[redacted:github_token#a1b2]`, in the place of each.
///
/// Three searchers work on every text, the surer one naming what several find: values that it was told
/// ([`ScrubberBuilder::secret`](crate::ScrubberBuilder::secret)) in every usual encoding; tokens that are known by their
/// shape; and values whose surroundings give them away (keys, headers, URLs). The four digits of a marker are the same
/// for the same secret. Scrubbing a scrubbed text changes nothing.
///
/// Immutable once built, but for values that are learned later, so any number of threads may share it.
pub struct Scrubber {
    pub(crate) known: KnownValues,
    pub(crate) prefilter: Prefilter,
    pub(crate) rules: Vec<CompiledRule>,
    pub(crate) tagger: Tagger,
    /// The labels of this scrubber's own markers.
    pub(crate) labels: HashSet<Box<str>>,
    /// Digests of values that stay.
    pub(crate) allowed: HashSet<[u8; 32]>,
    /// Values that become known while it is in use.
    pub(crate) learned: LearnedSecrets,
}

impl Redactor for Scrubber {
    fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.scrub_in_context(text, |_| None).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    fn scrub_document(&self, document: &Document) -> Option<Document> {
        document::scrub(self, document)
    }
}

impl Scrubber {
    /// Scrubs a text of which the caller knows that a part of it is secret; `None` when nothing was found.
    pub(crate) fn scrub_in_context(
        &self,
        text: &str,
        secret_part: impl Fn(&str) -> Option<(Range<usize>, KeyKind)>,
    ) -> Option<String> {
        let learned = self.learned.current();
        let look = |text: &str| {
            let part = secret_part(text);
            let part = part.map(|(range, kind)| Finding::part(text, range, kind.label(), Rank::Context));
            self.pass(text, learned.as_deref(), part)
        };
        let mut scrubbed = look(text)?;
        // A marker is a boundary, so that something beside it may show itself only now. Each pass takes at least one
        // more byte away, so this ends; nearly always after one look.
        while let Some(again) = look(&scrubbed) {
            scrubbed = again;
        }
        Some(scrubbed)
    }

    /// Every place that a rule would look at or that holds a known value, in order. Empty, and without an allocation,
    /// for a clean text.
    pub(crate) fn suspicious_places(&self, text: &str) -> Vec<usize> {
        let learned = self.learned.current();
        let mut known = Vec::new();
        self.known.find(text, &mut known);
        if let Some(learned) = &learned {
            learned.find(text, &mut known);
        }
        let mut places: Vec<usize> = self.prefilter.hits(text).into_iter().map(|hit| hit.at).collect();
        if !known.is_empty() {
            places.extend(known.into_iter().map(|finding| finding.range.start));
            places.sort_unstable();
        }
        places
    }

    /// Which parts of a text a first look finds: in order, those that overlap as one.
    pub(crate) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let learned = self.learned.current();
        let mut ranges: Vec<Range<usize>> =
            self.findings(text, learned.as_deref()).into_iter().map(|finding| finding.range).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let overlap = next.start < range.end;
            if overlap {
                range.end = range.end.max(next.end);
            }
            overlap
        });
        ranges
    }

    fn pass(&self, text: &str, learned: Option<&KnownValues>, context: Option<Finding<'_>>) -> Option<String> {
        let mut findings = self.findings(text, learned);
        findings.extend(context.filter(|finding| !self.is_allowed(finding.value)));
        if findings.is_empty() {
            return None;
        }
        let markers = marker::positions(text, &self.labels);
        replace(text, findings, &markers, &self.tagger)
    }

    fn findings<'a>(&'a self, text: &'a str, learned: Option<&'a KnownValues>) -> Vec<Finding<'a>> {
        let mut findings = Vec::new();
        let mut effort = Effort::for_text(text.len());
        self.known.find(text, &mut findings);
        if let Some(learned) = learned {
            learned.find(text, &mut findings);
        }
        let mut known_ends: Vec<usize> = findings.iter().map(|finding| finding.range.end).collect();
        known_ends.sort_unstable();
        // Where the last finding of each kind ends: what begins before that place is inside it.
        let (mut shape_end, mut context_end) = (0, 0);
        for hit in self.prefilter.hits(text) {
            for trigger in self.prefilter.triggers(hit) {
                let found = match *trigger {
                    Trigger::Rule(_) | Trigger::Pem if hit.at < shape_end => None,
                    Trigger::Rule(index) => self.rules[index]
                        .find(text, hit.at, &mut effort, |at| at == shape_end || known_ends.binary_search(&at).is_ok()),
                    Trigger::Pem => pem::find(text, hit.at),
                    Trigger::Url => url::find(text, hit.at),
                    _ if hit.at < context_end => None,
                    Trigger::Bearer => authorization::bearer(text, hit.at),
                    Trigger::Basic => authorization::basic(text, hit.at),
                    Trigger::Key => assignment::find(text, hit.at, &mut effort),
                };
                let Some(found) = found.filter(|finding| !self.is_allowed(finding.value)) else {
                    continue;
                };
                let end = if found.rank == Rank::Shape { &mut shape_end } else { &mut context_end };
                *end = found.range.end.max(*end);
                findings.push(found);
            }
        }
        findings
    }

    fn is_allowed(&self, value: &str) -> bool {
        !self.allowed.is_empty() && self.allowed.contains::<[u8; 32]>(&Sha256::digest(value.as_bytes()).into())
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.known.names().collect();
        formatter.debug_struct("Scrubber").field("secrets", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
