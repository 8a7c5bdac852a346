//! The protocol's versions, and the two eras that they fall into.

/// A version of the protocol that Lockgate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `2024-11-05`: the first, over HTTP with server-sent events on an endpoint of their own.
    V2024_11_05,
    /// `2025-03-26`: Streamable HTTP.
    V2025_03_26,
    /// `2025-06-18`: structured content, elicitation, the version's own header.
    V2025_06_18,
    /// `2025-11-25`: elicitation by URL, icons.
    V2025_11_25,
    /// `2026-07-28`: no handshake and no session.
    V2026_07_28,
}

/// How two peers agree on anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// By `initialize`, once a session: up to 2025-11-25.
    Legacy,
    /// In each request: from 2026-07-28 on.
    Modern,
}

impl Version {
    /// Every version, the oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// Those that a request can name: of the modern era. The others are agreed on by `initialize`.
    pub const NAMED: [Self; 1] = [Self::V2026_07_28];
    /// The newest that `initialize` may agree on: what an unknown version is answered with.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest.
    pub const NEWEST: Self = Self::V2026_07_28;
    /// What a legacy client over HTTP means that names none.
    pub const UNNAMED: Self = Self::V2025_03_26;

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The version that is written so.
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.word() == word)
    }

    /// Its era.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}
