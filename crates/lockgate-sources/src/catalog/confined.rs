//! Paths in targets: relative, and inside the catalog's folder, wherever symbolic links lead.

use std::path::{Component, Path, PathBuf};

use lockgate_host::files;

use crate::error::Problem;

/// The absolute path that a target means. What it names need not exist; the part that does exist is followed to where it
/// really lies. `folder` is absolute and without symbolic links.
pub(super) fn confine(folder: &Path, key: &'static str, given: &str) -> Result<PathBuf, Problem> {
    let refused = |reason: String| Problem::Path { key, path: given.to_owned(), reason };
    let mut names = Vec::new();
    for component in Path::new(given).components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::ParentDir => return Err(refused("it climbs with `..`".to_owned())),
            Component::RootDir | Component::Prefix(_) => return Err(refused("it is absolute".to_owned())),
        }
    }
    if names.is_empty() {
        return Err(refused("it names no file".to_owned()));
    }
    let mut path = folder.to_owned();
    for name in names {
        path.push(name);
        if !files::is_there(&path).map_err(|error| refused(error.to_string()))? {
            // Below something absent everything is absent.
            continue;
        }
        path = files::resolve(&path).map_err(|error| refused(error.to_string()))?;
        if !path.starts_with(folder) {
            return Err(refused("a symbolic link on it leads outside of the catalog's folder".to_owned()));
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests;
