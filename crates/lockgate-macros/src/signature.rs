//! The function under `#[tool]`, read and checked.

use syn::spanned::Spanned;
use syn::{Error, Ident, ItemFn, Result, Safety, Signature};

use crate::parameter::{Parameter, Role};
use crate::returns::Returns;

/// What the expansion needs to know of the function.
pub(crate) struct Tool {
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) returns: Returns,
}

impl Tool {
    /// Reads the function, and reports everything that is wrong with it at once.
    pub(crate) fn read(function: &ItemFn) -> Result<Self> {
        let signature = &function.sig;
        let mut faults = Faults::default();
        faults.note(check_kind(signature));
        let parameters: Vec<Parameter> =
            signature.inputs.iter().filter_map(|input| faults.note(Parameter::read(input))).collect();
        faults.note(check_roles(&parameters));
        let returns = faults.note(Returns::read(&signature.ident, &signature.output));
        match (faults.0, returns) {
            (None, Some(returns)) => Ok(Self { name: signature.ident.clone(), parameters, returns }),
            (Some(faults), _) => Err(faults),
            (None, None) => Err(Error::new(signature.ident.span(), "this function cannot be read")),
        }
    }

    /// The parameters that are one argument each.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.role == Role::Argument)
    }

    /// The parameter that is all the arguments.
    pub(crate) fn all_arguments(&self) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.role == Role::AllArguments)
    }
}

/// All faults found so far.
#[derive(Default)]
struct Faults(Option<Error>);

impl Faults {
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                match &mut self.0 {
                    Some(faults) => faults.combine(fault),
                    None => self.0 = Some(fault),
                }
                None
            }
        }
    }
}

fn check_kind(signature: &Signature) -> Result<()> {
    let mut faults = Faults::default();
    if signature.asyncness.is_none() {
        faults.note::<()>(Err(Error::new(
            signature.fn_token.span,
            "a handler is asynchronous\nhelp: write `async fn`; if it blocks its thread, also `#[tool(blocking)]`",
        )));
    }
    if !signature.generics.params.is_empty() {
        faults.note::<()>(Err(Error::new_spanned(
            &signature.generics,
            "a tool cannot be generic: it has one schema for its arguments and one for its output",
        )));
    }
    let qualifier = match &signature.safety {
        Safety::Default => None,
        safety => Some(safety.span()),
    };
    let qualifier = qualifier
        .or_else(|| signature.constness.map(|word| word.span))
        .or_else(|| signature.abi.as_ref().map(Spanned::span))
        .or_else(|| signature.variadic.as_ref().map(Spanned::span));
    if let Some(span) = qualifier {
        faults.note::<()>(Err(Error::new(span, "a tool is a plain `async fn`")));
    }
    faults.0.map_or(Ok(()), Err)
}

fn check_roles(parameters: &[Parameter]) -> Result<()> {
    let of_role = |role| parameters.iter().filter(move |parameter| parameter.role == role);
    if let Some(second) = of_role(Role::Context).nth(1) {
        return Err(Error::new_spanned(&second.ty, "a tool takes its `ToolContext` once"));
    }
    if let Some(other) = of_role(Role::AllArguments).nth(1).or_else(|| {
        of_role(Role::AllArguments).next()?;
        of_role(Role::Argument).next()
    }) {
        return Err(Error::new_spanned(
            &other.name,
            "beside `#[arguments]`, which is all the arguments, there is no other argument\n\
             help: make it a field of that struct",
        ));
    }
    Ok(())
}
