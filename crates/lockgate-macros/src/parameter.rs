//! One parameter of a tool's function: an argument, all the arguments, or the context.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Error, FnArg, Ident, Meta, Pat, PatType, Result, Token, Type};

/// A parameter, read and checked.
pub(crate) struct Parameter {
    pub(crate) role: Role,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// What goes to the field of the arguments struct: `doc`, `serde`, `schemars`.
    pub(crate) field_attributes: Vec<Attribute>,
    mutability: Option<Token![mut]>,
    /// What stays on the parameter: levels of lints.
    own_attributes: Vec<Attribute>,
}

/// What a parameter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// One argument.
    Argument,
    /// A struct that is all the arguments.
    AllArguments,
    /// The context of the call.
    Context,
}

impl Parameter {
    pub(crate) fn read(input: &FnArg) -> Result<Self> {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                return Err(Error::new_spanned(
                    receiver,
                    "a tool takes no `self`: it sees its arguments and nothing else\n\
                     help: what it needs beside them is a value in a `static`, or a closure given to `Handler::typed`",
                ));
            }
        };
        let (mutability, name) = simple_name(typed)?;
        let is_context = last_segment(&typed.ty).is_some_and(|segment| segment == "ToolContext");
        check_type(&typed.ty)?;
        let mut parameter = Self {
            role: if is_context { Role::Context } else { Role::Argument },
            name,
            ty: (*typed.ty).clone(),
            field_attributes: Vec::new(),
            mutability,
            own_attributes: Vec::new(),
        };
        for attribute in &typed.attrs {
            parameter.sort(attribute)?;
        }
        Ok(parameter)
    }

    fn sort(&mut self, attribute: &Attribute) -> Result<()> {
        let path = attribute.path();
        let is = |word: &str| path.is_ident(word);
        if is("doc") || is("serde") || is("schemars") {
            if self.role == Role::Argument || is("doc") {
                self.field_attributes.push(attribute.clone());
                return Ok(());
            }
        } else if is("arguments") && self.role == Role::Argument {
            attribute.meta.require_path_only()?;
            self.role = Role::AllArguments;
            return Ok(());
        } else if ["allow", "expect", "warn", "deny", "forbid"].iter().any(|level| is(level)) {
            self.own_attributes.push(attribute.clone());
            return Ok(());
        }
        let shown = path.to_token_stream().to_string();
        Err(Error::new_spanned(
            attribute,
            format!(
                "`#[{shown}]` means nothing on this parameter of a tool\nhelp: `///`, `#[serde(…)]`, `#[schemars(…)]` and `#[arguments]` do, on an argument"
            ),
        ))
    }

    /// The parameter as the function inside keeps it.
    pub(crate) fn declaration(&self) -> TokenStream {
        let Self { own_attributes, mutability, name, ty, .. } = self;
        quote!(#(#own_attributes)* #mutability #name: #ty)
    }

    /// Whether its fields stand among those of the arguments (`#[serde(flatten)]`).
    pub(crate) fn is_flattened(&self) -> bool {
        self.field_attributes.iter().any(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("serde") => list
                .tokens
                .clone()
                .into_iter()
                .any(|token| matches!(token, TokenTree::Ident(word) if word == "flatten")),
            _ => false,
        })
    }
}

/// The name of the last segment of a path type, through references.
pub(crate) fn last_segment(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        Type::Reference(reference) => last_segment(&reference.elem),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

fn simple_name(typed: &PatType) -> Result<(Option<Token![mut]>, Ident)> {
    if let Pat::Ident(pattern) = &*typed.pat
        && pattern.by_ref.is_none()
        && pattern.subpat.is_none()
    {
        return Ok((pattern.mutability, pattern.ident.clone()));
    }
    Err(Error::new_spanned(
        &typed.pat,
        "a parameter of a tool needs a plain name: it is the name of the argument\n\
         help: take it under a name, and take it apart inside",
    ))
}

fn check_type(ty: &Type) -> Result<()> {
    match ty {
        Type::Reference(_) if last_segment(ty).is_some_and(|segment| segment == "ToolContext") => {
            Err(Error::new_spanned(ty, "a tool takes its `ToolContext` by value"))
        }
        Type::ImplTrait(_) | Type::TraitObject(_) | Type::Infer(_) => {
            Err(Error::new_spanned(ty, "a parameter of a tool names its type: the schema is made from it"))
        }
        _ if borrows(ty.to_token_stream()) => Err(Error::new_spanned(
            ty,
            "a tool owns its arguments: they outlive the text that they were read from\n\
             help: take a `String` for a `&str`, and a `Vec<T>` for a `&[T]`",
        )),
        _ => Ok(()),
    }
}

fn borrows(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(mark) => mark.as_char() == '&',
        TokenTree::Group(group) => borrows(group.stream()),
        _ => false,
    })
}
