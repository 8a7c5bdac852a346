//! A workspace for tests: a root in a directory of its own, with a secret beside it.
#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::root::Root;

/// What stands in the file outside of the root; no tool may ever show it.
pub(super) const SECRET: &str = "the secret outside";

pub(super) struct Workspace {
    pub(super) root: Root,
    directory: TempDir,
}

impl Workspace {
    /// An empty root, and beside it `outside/secret.txt`.
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("root")).unwrap();
        fs::create_dir(directory.path().join("outside")).unwrap();
        fs::write(directory.path().join("outside/secret.txt"), SECRET).unwrap();
        let root = Root::open(directory.path().join("root")).unwrap();
        Self { root, directory }
    }

    /// A root that holds these files.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let workspace = Self::new();
        for (path, text) in files {
            workspace.write(path, text);
        }
        workspace
    }

    pub(super) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Makes many empty files in one directory of the root. They are links to one file: that is quicker to make.
    pub(super) fn write_many(&self, directory: &str, names: impl Iterator<Item = String>) {
        let directory = self.path(directory);
        let original = self.outside("empty");
        fs::create_dir_all(&directory).unwrap();
        fs::write(&original, "").unwrap();
        for name in names {
            fs::hard_link(&original, directory.join(name)).unwrap();
        }
    }

    /// Makes a symbolic link in the root; its target is taken as it is.
    #[cfg(unix)]
    pub(super) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    /// Makes a named pipe; false where there is no `mkfifo`.
    #[cfg(unix)]
    pub(super) fn pipe(&self, path: &str) -> bool {
        std::process::Command::new("mkfifo").arg(self.path(path)).status().is_ok_and(|status| status.success())
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(super) fn outside(&self, path: &str) -> PathBuf {
        self.directory.path().join("outside").join(path)
    }
}
