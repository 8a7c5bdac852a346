//! What the handlers of tests do.

use lockgate::contract::arguments::Arguments;
use lockgate::contract::ports::BoxFuture;
use lockgate::prelude::*;

/// What a handler of a test does.
pub(crate) type Act = Arc<dyn Fn(Arguments, ToolContext) -> BoxFuture<'static, Result<Output, Failure>> + Send + Sync>;

/// A handler that answers at once.
pub(crate) fn at_once(act: impl Fn(&Arguments) -> Result<Output, Failure> + Send + Sync + 'static) -> Act {
    Arc::new(move |arguments, _| Box::pin(std::future::ready(act(&arguments))))
}

/// A handler that takes its time.
pub(crate) fn in_time<F, Fut>(act: F) -> Act
where
    F: Fn(Arguments, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Output, Failure>> + Send + 'static,
{
    Arc::new(move |arguments, context| Box::pin(act(arguments, context)))
}

/// A handler that returns its arguments.
pub(crate) fn echo() -> Act {
    at_once(|arguments| Ok(Output::new(arguments.document().clone())))
}

/// A handler whose output is this text, JSON or not.
pub(crate) fn raw(text: &str) -> Act {
    let text = text.to_owned();
    at_once(move |_| Ok(Output::raw(text.as_str())))
}
