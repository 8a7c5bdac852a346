//! Who is told of every token, so that it is kept out of what leaves.

use std::any::Any;

use super::Secret;

/// A secret is kept out of texts as long as this is held, and as much longer as an answer may be on its way.
pub type Hushed = Box<dyn Any + Send + Sync>;

/// Hears of every token before it is shown to anybody: a server that says it back says it into texts that leave.
pub trait Confidant: Send + Sync {
    /// From now on this is taken out of every text that leaves.
    ///
    /// # Errors
    ///
    /// It cannot be, and why. The token is not used then.
    fn told(&self, secret: &Secret) -> Result<Hushed, String>;

    /// A text of a server's or an issuer's, without what this was told.
    fn without(&self, text: String) -> String;
}

/// For callers whose texts leave for nobody, such as programs that only test.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyListens;

impl Confidant for NobodyListens {
    fn told(&self, _: &Secret) -> Result<Hushed, String> {
        Ok(Box::new(()))
    }

    fn without(&self, text: String) -> String {
        text
    }
}
