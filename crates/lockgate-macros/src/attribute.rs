//! What stands in `#[tool(…)]`.

mod value;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Path, Result, Token};

use self::value::{Word, Words, flag, milliseconds, path, text_with_content, texts, word};
use crate::nearest::{in_a_sentence, nearest};

/// The keys and values, checked one by one. What was not given is `None` or `false`, and left to the builder's defaults.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) output_schema: Option<bool>,
    pub(crate) blocking: bool,
    /// The path to the façade.
    pub(crate) facade: Option<Path>,
    version: Option<LitStr>,
    effect: Option<Word>,
    replay: Option<Word>,
    idempotency: Option<Word>,
    permission: Option<Word>,
    on_duplicate: Option<Word>,
    error_text: Option<Word>,
    deferral: Option<Word>,
    reason: Option<LitStr>,
    scopes: Option<Vec<LitStr>>,
    resource_keys: Option<Vec<LitStr>>,
    completes_run: bool,
    timeout_milliseconds: Option<u64>,
    idempotency_window_milliseconds: Option<u64>,
    pre_check: Option<Path>,
    harmless_when: Option<Path>,
    reconcile: Option<Path>,
    binds_files: Option<Path>,
}

const EFFECT: Words =
    Words { noun: "effect", words: &[("read", "Read"), ("write", "Write"), ("external", "External")] };
const REPLAY: Words = Words { noun: "replay policy", words: &[("safe", "Safe"), ("never", "Never")] };
const IDEMPOTENCY: Words = Words {
    noun: "kind of idempotency",
    words: &[("none", "None"), ("declared", "Declared"), ("provider", "Provider")],
};
const PERMISSION: Words = Words { noun: "permission", words: &[("allow", "Allow"), ("ask", "Ask"), ("deny", "Deny")] };
const ON_DUPLICATE: Words = Words {
    noun: "answer to duplicates",
    words: &[("run_each", "RunEach"), ("share_result", "ShareResult"), ("reject", "Reject")],
};
const ERROR_TEXT: Words = Words { noun: "kind of error text", words: &[("hidden", "Hidden"), ("vouched", "Vouched")] };
const DEFERRAL: Words =
    Words { noun: "deferral", words: &[("never", "Never"), ("eligible", "Eligible"), ("deferred", "Deferred")] };

const KEYS: &[&str] = &[
    "name",
    "version",
    "effect",
    "replay",
    "idempotency",
    "idempotency_window",
    "permission",
    "reason",
    "scopes",
    "resource_keys",
    "completes_run",
    "blocking",
    "timeout",
    "on_duplicate",
    "error_text",
    "deferral",
    "pre_check",
    "harmless_when",
    "reconcile",
    "binds_files",
    "output_schema",
    "crate",
];

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let name = key.unraw().to_string();
            if seen.contains(&name) {
                return Err(Error::new(key.span(), format!("the key `{name}` is given twice")));
            }
            options.read(&key, &name, input)?;
            seen.push(name);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.check()?;
        Ok(options)
    }
}

impl Options {
    fn read(&mut self, key: &Ident, name: &str, input: ParseStream<'_>) -> Result<()> {
        match name {
            "name" => self.name = Some(text_with_content(input, "a tool needs a name")?),
            "version" => self.version = Some(text_with_content(input, "a version needs a text, such as `1.0`")?),
            "effect" => self.effect = Some(word(input, &EFFECT)?),
            "replay" => self.replay = Some(word(input, &REPLAY)?),
            "idempotency" => self.idempotency = Some(word(input, &IDEMPOTENCY)?),
            "permission" => self.permission = Some(word(input, &PERMISSION)?),
            "on_duplicate" => self.on_duplicate = Some(word(input, &ON_DUPLICATE)?),
            "error_text" => self.error_text = Some(word(input, &ERROR_TEXT)?),
            "deferral" => self.deferral = Some(word(input, &DEFERRAL)?),
            "reason" => self.reason = Some(text_with_content(input, "a reason needs words")?),
            "scopes" => self.scopes = Some(texts(input)?),
            "resource_keys" => self.resource_keys = Some(texts(input)?),
            "completes_run" => self.completes_run = flag(input)?,
            "blocking" => self.blocking = flag(input)?,
            "output_schema" => self.output_schema = Some(flag(input)?),
            "timeout" => self.timeout_milliseconds = Some(milliseconds(input, "time-out")?),
            "idempotency_window" => {
                self.idempotency_window_milliseconds = Some(milliseconds(input, "idempotency window")?);
            }
            "pre_check" => self.pre_check = Some(path(input)?),
            "harmless_when" => self.harmless_when = Some(path(input)?),
            "reconcile" => self.reconcile = Some(path(input)?),
            "binds_files" => self.binds_files = Some(path(input)?),
            "crate" => self.facade = Some(path(input)?),
            "description" | "docs" => {
                return Err(Error::new(
                    key.span(),
                    "the description of a tool is its doc comment: write it with `///`",
                ));
            }
            _ => return Err(unknown_key(key, name)),
        }
        Ok(())
    }

    /// What no single key shows.
    fn check(&self) -> Result<()> {
        let changes_something = self.effect.as_ref().is_none_or(|effect| effect.variant != "Read");
        if let (Some(replay), Some(idempotency)) = (&self.replay, &self.idempotency)
            && changes_something
            && replay.variant == "Safe"
            && idempotency.variant == "None"
        {
            let message = "a tool that changes something is only `safe` to repeat if it is idempotent\n\
                           help: write `idempotency = declared`, or `replay = never`";
            return Err(Error::new(replay.span, message));
        }
        Ok(())
    }

    /// The calls on the builder that say what was given.
    pub(crate) fn builder_calls(&self, private: &TokenStream) -> TokenStream {
        let mut calls = TokenStream::new();
        for (method, kind, word) in [
            (quote!(effect), quote!(Effect), &self.effect),
            (quote!(replay), quote!(ReplayPolicy), &self.replay),
            (quote!(permission), quote!(Permission), &self.permission),
            (quote!(on_duplicate), quote!(OnDuplicate), &self.on_duplicate),
            (quote!(error_text), quote!(ErrorText), &self.error_text),
            (quote!(deferral), quote!(Deferral), &self.deferral),
        ] {
            if let Some(Word { variant, .. }) = word {
                calls.extend(quote!(.#method(#private::#kind::#variant)));
            }
        }
        if let Some(variant) = self.idempotency_variant() {
            calls.extend(quote!(.idempotency(#private::Idempotency::#variant)));
        }
        if let Some(version) = &self.version {
            calls.extend(quote!(.version(#version)));
        }
        if let Some(reason) = &self.reason {
            calls.extend(quote!(.permission_reason(#reason)));
        }
        if let Some(scopes) = self.scopes.as_ref().filter(|scopes| !scopes.is_empty()) {
            calls.extend(quote!(.scopes([#(#scopes),*])));
        }
        if let Some(keys) = self.resource_keys.as_ref().filter(|keys| !keys.is_empty()) {
            calls.extend(quote!(.resource_keys([#(#keys),*])));
        }
        if self.completes_run {
            calls.extend(quote!(.completes_run(true)));
        }
        for (method, milliseconds) in [
            (quote!(timeout), self.timeout_milliseconds),
            (quote!(idempotency_window), self.idempotency_window_milliseconds),
        ] {
            if let Some(milliseconds) = milliseconds {
                calls.extend(quote!(.#method(::core::time::Duration::from_millis(#milliseconds))));
            }
        }
        for (method, path) in [
            (quote!(pre_check), &self.pre_check),
            (quote!(harmless_when), &self.harmless_when),
            (quote!(reconcile), &self.reconcile),
            (quote!(binds_files), &self.binds_files),
        ] {
            if let Some(path) = path {
                calls.extend(quote!(.#method(#path)));
            }
        }
        calls
    }

    /// What was given; without, `replay = safe` declares it where the effect is no read (C-7).
    fn idempotency_variant(&self) -> Option<Ident> {
        if let Some(given) = &self.idempotency {
            return Some(given.variant.clone());
        }
        let changes_something = self.effect.as_ref().is_none_or(|effect| effect.variant != "Read");
        let replay = self.replay.as_ref().filter(|replay| replay.variant == "Safe" && changes_something)?;
        Some(Ident::new("Declared", replay.span))
    }
}

fn unknown_key(key: &Ident, name: &str) -> Error {
    let message = match nearest(name, KEYS.iter().copied()) {
        Some(near) => format!("unknown key `{name}`: did you mean `{near}`?"),
        None => format!("unknown key `{name}`: the keys are {}", in_a_sentence(KEYS)),
    };
    Error::new(key.span(), message)
}

#[cfg(test)]
mod tests;
