//! Values that refer to environment variables: `${NAME}`.

/// A part of such a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'v> {
    /// It stands for itself.
    Text(&'v str),
    /// The value of this variable.
    Variable(&'v str),
}

/// The parts of a value.
///
/// # Errors
///
/// A `${` without its `}`, or around what is no variable's name.
pub fn pieces(value: &str) -> Result<Vec<Piece<'_>>, String> {
    let (mut pieces, mut rest) = (Vec::new(), value);
    while let Some((before, behind)) = rest.split_once("${") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let (name, after) = behind.split_once('}').ok_or("`${` has no `}`")?;
        if !is_variable(name) {
            return Err(format!("`${{{}}}` names no environment variable", name.escape_debug()));
        }
        pieces.push(Piece::Variable(name));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// Whether this can be the name of an environment variable.
pub(crate) fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(plain) && !name.as_bytes()[0].is_ascii_digit()
}
