//! Files: read whole, appended to durably.
//!
//! The functions block their thread. Paths are taken as they are: whether a path may be touched is decided before.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use lockgate_contract::digest::Digest;
use sha2::{Digest as _, Sha256};

/// The whole file as text; an error if it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}

/// The whole file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// The file, to be read from its beginning.
pub fn open(path: &Path) -> io::Result<impl Read> {
    File::open(path)
}

/// What is in the file, as the digest that `sha256sum` prints. What is no file, such as a pipe or a folder, has none.
pub fn content_digest(path: &Path) -> io::Result<Digest> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("`{}` is no file", path.display())));
    }
    let mut file = BufReader::new(File::open(path)?);
    let mut hasher = Sha256::new();
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            return Ok(Digest::from_bytes(hasher.finalize().into()));
        }
        hasher.update(read);
        let length = read.len();
        file.consume(length);
    }
}

/// The first `count` bytes of the file, or fewer where it is shorter.
pub fn read_start(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(count).read_to_end(&mut start)?;
    Ok(start)
}

/// Appends the bytes in one piece and waits until they are on the disk. The file is made where it is absent; its folder
/// is not.
pub fn append_and_sync(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Ok(file) => write_and_sync(file, bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            write_and_sync(OpenOptions::new().append(true).create(true).open(path)?, bytes)?;
            sync_folder_of(path)
        }
        Err(error) => Err(error),
    }
}

/// Puts other bytes in place of a file's, all at once: whoever reads it has the old ones or the new ones, also after a crash.
/// Its permissions stay. The path is that of the file itself, and of no link to it.
///
/// # Errors
///
/// The file does not hold `before` any more, somebody else is about to replace it (`PATH.new` is there), or it cannot be written.
pub fn replace(path: &Path, before: &[u8], bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let permissions = std::fs::metadata(path)?.permissions();
    // One that is there is another's, who is about to do the same, or was when he was broken off.
    let taken = |cause: io::Error| match cause.kind() {
        ErrorKind::AlreadyExists => {
            let beside = beside.display();
            io::Error::new(cause.kind(), format!("`{beside}` is there: remove it if nobody is writing it now"))
        }
        _ => cause,
    };
    let mut new = NewFile::create(&beside).map_err(taken)?;
    if read(path)? != before {
        return Err(io::Error::new(ErrorKind::ResourceBusy, "it has changed meanwhile: nothing was written"));
    }
    new.write(bytes)?;
    new.flushed()?;
    std::fs::set_permissions(&beside, permissions)?;
    std::fs::rename(&beside, path)?;
    new.is_finished = true;
    sync_folder_of(path)
}

/// The lines of a file, without their line feeds, one at a time.
pub fn lines(path: &Path) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    Ok(lines.map(|line| String::from_utf8(line?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))))
}

/// A file that is being written, for its owner alone. It is removed again unless it is finished.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: BufWriter<File>,
    is_finished: bool,
}

impl NewFile {
    /// Makes the file; an error where there is one already.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { path: path.to_owned(), file: BufWriter::new(options.open(path)?), is_finished: false })
    }

    /// Adds bytes at its end.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Waits until its bytes are on the disk.
    fn flushed(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }

    /// Waits until it is on the disk, with its name.
    pub fn finish(mut self) -> io::Result<()> {
        self.flushed()?;
        sync_folder_of(&self.path)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // Half of it would be of no use to anybody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Makes the folder and those above it, where they are absent.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// The names in a folder, sorted; an error if one is not UTF-8: a file that is not seen would be passed over in silence. The
/// empty path is the working directory.
pub fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().into_string().map_err(|name| {
            io::Error::new(ErrorKind::InvalidData, format!("the name `{}` is not UTF-8", name.display()))
        })?;
        names.push(name);
    }
    names.sort_unstable();
    Ok(names)
}

/// The absolute path of something that exists, with every symbolic link followed.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Whether there is something of that name, be it a symbolic link that leads nowhere.
pub fn is_there(path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn write_and_sync(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// A new file is only safe from a power cut once its name is: that is its folder's content.
#[cfg(unix)]
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file, and names are durable with the file.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on the systems that can fail here")]
pub(crate) fn sync_folder_of(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
