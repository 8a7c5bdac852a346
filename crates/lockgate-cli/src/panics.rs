//! Panics: a tool's are an outcome and go to the log, the program's own are told to the person.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

/// Where the last panic was, and what it said.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// From here on a panic prints nothing by itself: a handler's panic is caught by the gate, and its text is not for
/// whoever reads standard error.
pub(crate) fn keep_quiet() {
    panic::set_hook(Box::new(|info| {
        // Only where: what a handler's panic says may hold a secret, and reaches the log scrubbed, as the end of its call.
        tracing::debug!(place = info.location().map(tracing::field::display), "something panicked");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(said(info));
    }));
}

/// Runs the program; a panic that nobody caught before is a defect of the program itself.
pub(crate) fn caught<T>(program: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(program)).map_err(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        last.unwrap_or_else(|| "no text".to_owned())
    })
}

fn said(info: &PanicHookInfo<'_>) -> String {
    let payload: &(dyn Any + Send) = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map(|location| format!(" at {location}")).unwrap_or_default();
    format!("{}{place}", text.unwrap_or("no text"))
}

#[cfg(test)]
mod tests {
    use super::{caught, keep_quiet};

    #[test]
    fn a_panic_of_the_program_is_told_with_its_place() {
        keep_quiet();
        let told = caught(|| panic!("gone")).err();
        assert!(
            told.as_ref().is_some_and(|told| told.starts_with("gone at ") && told.contains("panics.rs")),
            "{told:?}"
        );
        assert_eq!(caught(|| 1), Ok(1));
    }
}
