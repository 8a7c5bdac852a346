//! The cases as they stand in `testdata/cases.jsonl`.

use std::path::Path;

use lockgate::contract::call::ActionLanguage;
use lockgate::contract::document::{Document, Limits, Node};
use lockgate::contract::ports::ProposedCall;
use lockgate::prelude::*;

/// One line of the file.
#[derive(Clone)]
pub(super) struct Case {
    document: Document,
}

impl Case {
    /// Every line, in the order of the file.
    pub(super) fn all() -> Vec<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases.jsonl");
        let text = lockgate::host::files::read_to_string(&path).unwrap();
        text.lines().map(|line| Self { document: Document::parse(line, Limits::OWN).unwrap() }).collect()
    }

    /// The line with this id.
    pub(super) fn named(id: &str) -> Self {
        Self::all().into_iter().find(|case| case.id() == id).unwrap()
    }

    pub(super) fn id(&self) -> String {
        self.text("/id")
    }

    pub(super) fn kind(&self) -> String {
        self.text("/kind")
    }

    /// What stands at a JSON pointer of the line; it must be there.
    pub(super) fn at(&self, pointer: &str) -> Node<'_> {
        let id = self.document.root().get("id");
        self.document.root().pointer(pointer).unwrap_or_else(|| panic!("{id:?} has no {pointer}"))
    }

    /// The string at a JSON pointer.
    pub(super) fn text(&self, pointer: &str) -> String {
        self.at(pointer).as_str().unwrap().into_owned()
    }

    /// The strings of the array at a JSON pointer.
    pub(super) fn texts(&self, pointer: &str) -> Vec<String> {
        self.at(pointer).elements().map(|text| text.as_str().unwrap().into_owned()).collect()
    }

    /// The whole number at a JSON pointer.
    pub(super) fn number<N: serde::de::DeserializeOwned>(&self, pointer: &str) -> N {
        self.at(pointer).to_document().decode().unwrap()
    }

    /// The calls of the line's one model turn.
    pub(super) fn calls(&self) -> Vec<ProposedCall> {
        let text = |call: Node<'_>, key: &str| call.get(key).unwrap().as_str().unwrap().into_owned();
        let calls = self.at("/input/calls").elements();
        calls.map(|call| proposed(&text(call, "id"), &text(call, "name"), &text(call, "arguments"))).collect()
    }

    /// The name of the line's tool.
    pub(super) fn tool_name(&self) -> String {
        self.text("/input/tool/name")
    }

    /// The line's tool as it declares itself. Where it names no effect, what the line is about has none: it reads.
    pub(super) fn tool(&self) -> lockgate::ToolSpecBuilder {
        let declared = self.at("/input/tool");
        let effect = declared.get("effect").map_or(Effect::Read, |effect| effect.decode().unwrap());
        let mut builder = ToolSpec::builder(self.tool_name()).effect(effect);
        if let Some(schema) = declared.get("input_schema") {
            builder = builder.input_schema(schema.to_document());
        }
        if let Some(schema) = declared.get("output_schema") {
            builder = builder.output_schema(schema.to_document());
        }
        builder
    }
}

/// A call as a model proposes it.
pub(super) fn proposed(id: &str, name: &str, arguments: &str) -> ProposedCall {
    ProposedCall {
        provider_call_id: id.to_owned(),
        name: name.to_owned(),
        arguments_text: arguments.to_owned(),
        language: ActionLanguage::Call,
    }
}

/// The text of bytes in hexadecimal digits.
pub(super) fn unhex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}
