//! The description of a tool: its doc comment, as running text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment as text for a model; `None` where there is none. Lines of a paragraph are joined, paragraphs are kept,
/// and so are the lines of lists, tables and code.
pub(crate) fn of(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes.iter().filter_map(doc_text).flat_map(|text| dedented(&text)).collect();
    let text = joined(&lines);
    (!text.is_empty()).then_some(text)
}

/// The text of a `#[doc = "…"]`, which is what `///` becomes.
fn doc_text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    if !pair.path.is_ident("doc") {
        return None;
    }
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The lines without the one space after `///`, and without the stars of a `/** … */`.
fn dedented(text: &str) -> Vec<String> {
    let several = text.contains('\n');
    text.split('\n')
        .map(|line| {
            let line = line.trim_end();
            if several {
                let inner = line.trim_start();
                let starred = inner.strip_prefix("* ").or_else(|| (inner == "*").then_some(""));
                starred.unwrap_or(inner).to_owned()
            } else {
                line.strip_prefix(' ').unwrap_or(line).to_owned()
            }
        })
        .collect()
}

fn joined(lines: &[String]) -> String {
    let mut text = String::new();
    let mut in_code = false;
    let mut continues = false;
    for line in lines {
        let fence = line.trim_start().starts_with("```");
        if continues && !in_code && !fence && !starts_its_own_line(line) {
            text.push(' ');
            text.push_str(line.trim_start());
        } else {
            text.push('\n');
            text.push_str(line);
        }
        in_code ^= fence;
        continues = !in_code && !fence && !line.trim().is_empty() && !line.trim_start().starts_with(['#', '|']);
    }
    text.trim().to_owned()
}

/// Whether a line of Markdown means something that joining it to the one above would destroy.
fn starts_its_own_line(line: &str) -> bool {
    let inner = line.trim_start();
    let numbered = inner
        .trim_start_matches(|character: char| character.is_ascii_digit())
        .strip_prefix(". ")
        .is_some_and(|_| inner.starts_with(|character: char| character.is_ascii_digit()));
    inner.is_empty()
        || numbered
        || inner.starts_with(['#', '>', '|'])
        || ["- ", "* ", "+ "].iter().any(|marker| inner.starts_with(marker))
}

#[cfg(test)]
mod tests;
