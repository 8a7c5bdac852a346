#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod concurrent;
mod describing;
mod executors;
mod naming;
mod operations;
mod replacing;
mod resolving;
mod restricting;
mod smallest;

use std::sync::Arc;

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::effect::Effect;
use lockgate_contract::tool::{Failure, Handler, ToolSpec, ToolSpecBuilder};
use serde::de::IgnoredAny;

use super::*;
use crate::error::{RegisterError, ResolveError};

/// A reading tool with a handler.
fn tool(name: &str) -> ToolSpecBuilder {
    without_handler(name).handler(handler())
}

fn without_handler(name: &str) -> ToolSpecBuilder {
    ToolSpec::builder(name).description(format!("The tool {name}.")).effect(Effect::Read)
}

fn handler() -> Handler {
    Handler::typed(|_: IgnoredAny| async { Ok::<_, Failure>("done") })
}

fn spec(name: &str) -> ToolSpec {
    tool(name).build().unwrap()
}

fn version(name: &str, version: &str) -> ToolSpec {
    tool(name).version(version).build().unwrap()
}

fn registry(names: &[&str]) -> Registry {
    let registry = Registry::default();
    for name in names {
        registry.register(spec(name)).unwrap();
    }
    registry
}

/// A run that is bound to everything that is registered now.
fn bound(registry: &Registry) -> AllowedTools {
    let tools = registry.tools();
    AllowedTools::new("run", tools.iter().map(|tool| (tool.spec().name().to_owned(), tool.spec().definition())))
}

fn reached(registry: &Registry, name: &str, allowed: &AllowedTools) -> Result<String, &'static str> {
    registry.resolve(name, allowed).map(|tool| tool.spec().version().to_owned()).map_err(|error| error.reason())
}
