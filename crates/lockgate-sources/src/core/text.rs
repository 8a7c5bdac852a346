//! What counts as text, and reading it as UTF-8. `read_file` and `grep` share this, so they agree on every file.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// How much of a file's beginning decides whether it is text, in bytes.
const SNIFFED_BYTES: usize = 8 * 1024;
/// Stands for a unit that could not be decoded. No UTF-8 text holds this byte, so whoever decodes the bytes at last
/// sees exactly where something was wrong, for UTF-16 as for UTF-8.
const UNDECODABLE: u8 = 0xFF;

/// How the bytes of a text file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TextEncoding {
    /// UTF-8, with or without a byte order mark.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, little-endian, with a byte order mark.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, big-endian, with a byte order mark.
    #[serde(rename = "utf-16be")]
    Utf16Be,
}

/// A file's text as a stream of UTF-8 bytes, its byte order mark taken off. What cannot be decoded stays in the stream as
/// bytes that are not valid UTF-8.
#[derive(Debug)]
pub(super) struct TextReader<R> {
    source: io::Chain<io::Cursor<Vec<u8>>, R>,
    encoding: TextEncoding,
    utf16: Option<Utf16>,
}

impl<R: Read> TextReader<R> {
    /// Reads the beginning of `source` and says how to read it all; nothing when it is not text: a NUL byte stands in its
    /// first 8 KiB and no UTF-16 byte order mark explains it.
    pub(super) fn open(mut source: R) -> io::Result<Option<Self>> {
        let mut head = Vec::new();
        source.by_ref().take(SNIFFED_BYTES as u64).read_to_end(&mut head)?;
        let Some((encoding, mark_bytes)) = sniff(&head) else {
            return Ok(None);
        };
        head.drain(..mark_bytes);
        let utf16 = match encoding {
            TextEncoding::Utf8 => None,
            TextEncoding::Utf16Le => Some(Utf16::new(UTF_16LE.new_decoder_without_bom_handling())),
            TextEncoding::Utf16Be => Some(Utf16::new(UTF_16BE.new_decoder_without_bom_handling())),
        };
        Ok(Some(Self { source: io::Cursor::new(head).chain(source), encoding, utf16 }))
    }

    pub(super) fn encoding(&self) -> TextEncoding {
        self.encoding
    }
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.utf16 {
            None => self.source.read(buffer),
            Some(utf16) => utf16.read(&mut self.source, buffer),
        }
    }
}

/// The encoding of a text that begins like this, and the length of its byte order mark; nothing for binary data.
fn sniff(head: &[u8]) -> Option<(TextEncoding, usize)> {
    match head {
        // The UTF-32 mark begins like the UTF-16 one; UTF-32 is not read.
        [0xFF, 0xFE, 0, 0, ..] => None,
        [0xFF, 0xFE, ..] => Some((TextEncoding::Utf16Le, 2)),
        [0xFE, 0xFF, ..] => Some((TextEncoding::Utf16Be, 2)),
        _ if head.contains(&0) => None,
        [0xEF, 0xBB, 0xBF, ..] => Some((TextEncoding::Utf8, 3)),
        _ => Some((TextEncoding::Utf8, 0)),
    }
}

/// Turns UTF-16 into UTF-8 as it is read.
struct Utf16 {
    decoder: Decoder,
    raw: Vec<u8>,
    decoded: Vec<u8>,
    /// How much of `decoded` was handed out already.
    taken: usize,
    ended: bool,
}

impl std::fmt::Debug for Utf16 {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Utf16").field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl Utf16 {
    fn new(decoder: Decoder) -> Self {
        Self { decoder, raw: vec![0; SNIFFED_BYTES], decoded: Vec::new(), taken: 0, ended: false }
    }

    fn read(&mut self, source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.decoded.len() && !self.ended {
            let read = source.read(&mut self.raw)?;
            self.ended = read == 0;
            self.decode(read);
        }
        let ready = self.decoded.get(self.taken..).unwrap_or_default();
        let count = ready.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(ready) {
            *to = *from;
        }
        self.taken += count;
        Ok(count)
    }

    /// Decodes the first `count` raw bytes, all of them.
    fn decode(&mut self, count: usize) {
        let mut raw = self.raw.get(..count).unwrap_or_default();
        self.decoded.clear();
        self.taken = 0;
        loop {
            let filled = self.decoded.len();
            // Two bytes become at most three; a few more for what the decoder held back.
            self.decoded.resize(filled + raw.len() * 2 + 16, 0);
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(raw, &mut self.decoded[filled..], self.ended);
            self.decoded.truncate(filled + written);
            raw = &raw[read..];
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => self.decoded.push(UNDECODABLE),
            }
        }
    }
}

/// The beginning of `bytes` as text of at most `limit` bytes, cut between characters.
pub(super) fn decode_up_to(bytes: &[u8], limit: usize) -> Decoded {
    let mut decoded = Decoded { text: String::new(), lossy: false, cut: false };
    for chunk in bytes.utf8_chunks() {
        let room = limit - decoded.text.len();
        if chunk.valid().len() > room {
            decoded.text.push_str(&chunk.valid()[..chunk.valid().floor_char_boundary(room)]);
            decoded.cut = true;
            return decoded;
        }
        decoded.text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            if decoded.text.len() + char::REPLACEMENT_CHARACTER.len_utf8() > limit {
                decoded.cut = true;
                return decoded;
            }
            decoded.text.push(char::REPLACEMENT_CHARACTER);
            decoded.lossy = true;
        }
    }
    decoded
}

/// Bytes that became text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) text: String,
    /// Whether U+FFFD stands in the text for something that could not be decoded.
    pub(super) lossy: bool,
    /// Whether something was left out at the end.
    pub(super) cut: bool,
}
