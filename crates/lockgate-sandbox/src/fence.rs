//! What holds a process tree together.

/// How far a tree reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The child alone is ended.
    ChildOnly,
    /// The child's process group is ended: all that it started and that did not leave the group.
    ProcessGroup,
    /// All that it started is ended, wherever it went, also where this process is killed.
    PidNamespace,
}

impl Level {
    /// Its word, as people and programs read it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ChildOnly => "child_only",
            Self::ProcessGroup => "process_group",
            Self::PidNamespace => "pid_namespace",
        }
    }
}

/// What was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// How far the tree reaches.
    pub level: Level,
    /// Why it does not reach further; absent where nothing reaches further.
    pub why_not_more: Option<String>,
}
