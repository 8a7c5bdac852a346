//! The forms that the value of a key takes.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitStr, Path, Result, Token, bracketed, parenthesized, token};

use crate::nearest::{in_a_sentence, nearest};

/// One word of a closed set.
pub(super) struct Word {
    pub(super) variant: Ident,
    pub(super) span: Span,
}

/// A closed set: what it is called, its type, and each word with its variant.
pub(super) struct Words {
    pub(super) noun: &'static str,
    pub(super) words: &'static [(&'static str, &'static str)],
}

/// `= word`, or the same as a text.
pub(super) fn word(input: ParseStream<'_>, words: &Words) -> Result<Word> {
    input.parse::<Token![=]>()?;
    let (word, span) = if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        (text.value(), text.span())
    } else {
        let ident = input.call(Ident::parse_any)?;
        (ident.to_string(), ident.span())
    };
    if let Some((_, variant)) = words.words.iter().find(|(valid, _)| *valid == word) {
        return Ok(Word { variant: Ident::new(variant, Span::call_site()), span });
    }
    let valid: Vec<&str> = words.words.iter().map(|(valid, _)| *valid).collect();
    let noun = words.noun;
    let choice = in_a_sentence(&valid);
    let message = match nearest(&word, valid.iter().copied()) {
        Some(near) => format!("`{word}` is no {noun}: did you mean `{near}`?\nhelp: the choice is {choice}"),
        None => format!("`{word}` is no {noun}\nhelp: the choice is {choice}"),
    };
    Err(Error::new(span, message))
}

fn text(input: ParseStream<'_>) -> Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// A text that is not blank.
pub(super) fn text_with_content(input: ParseStream<'_>, message: &str) -> Result<LitStr> {
    let text = text(input)?;
    if text.value().trim().is_empty() { Err(Error::new(text.span(), message)) } else { Ok(text) }
}

/// `("a", "b")`, `= ["a", "b"]` or `= "a"`.
pub(super) fn texts(input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    let content;
    if input.peek(token::Paren) {
        parenthesized!(content in input);
    } else {
        input.parse::<Token![=]>()?;
        if input.peek(LitStr) {
            return Ok(vec![input.parse()?]);
        }
        bracketed!(content in input);
    }
    let texts: Punctuated<LitStr, Token![,]> = content.call(Punctuated::parse_terminated)?;
    if let Some(empty) = texts.iter().find(|text| text.value().trim().is_empty()) {
        return Err(Error::new(empty.span(), "an empty text means nothing here"));
    }
    Ok(texts.into_iter().collect())
}

/// Alone, or `= true`, `= false`.
pub(super) fn flag(input: ParseStream<'_>) -> Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    input.parse::<Token![=]>()?;
    Ok(input.parse::<LitBool>()?.value)
}

/// `= path::to::it`, or the same as a text.
pub(super) fn path(input: ParseStream<'_>) -> Result<Path> {
    input.parse::<Token![=]>()?;
    if input.peek(LitStr) {
        return input.parse::<LitStr>()?.parse();
    }
    input.parse()
}

/// `= "2s"`: a number above zero and its unit.
pub(super) fn milliseconds(input: ParseStream<'_>, noun: &str) -> Result<u64> {
    let text = text(input)?;
    let value = text.value();
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(digits);
    let factor = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let milliseconds = factor.zip(number.parse::<u64>().ok()).and_then(|(factor, number)| number.checked_mul(factor));
    milliseconds.filter(|milliseconds| *milliseconds > 0).ok_or_else(|| {
        let message = format!(
            "`{value}` is no {noun}\nhelp: write a number above zero and its unit, such as `500ms`, `2s`, `5m` or `1h`"
        );
        Error::new(text.span(), message)
    })
}
