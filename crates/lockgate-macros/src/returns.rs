//! What a tool's function returns: an output, or a `Result` with one.

use syn::{Error, GenericArgument, Ident, PathArguments, Result, ReturnType, Type};

use crate::parameter::last_segment;

/// The return type, read and checked.
pub(crate) enum Returns {
    /// `T`: it cannot fail.
    Output(Box<Type>),
    /// `Result<T, E>`.
    Result {
        /// The `T`.
        output: Box<Type>,
        /// The `E`.
        failure: Box<Type>,
    },
    /// A `Result` whose parts are not all written, such as `io::Result<T>`.
    Alias(Box<Type>),
}

impl Returns {
    pub(crate) fn read(function: &Ident, returned: &ReturnType) -> Result<Self> {
        let ReturnType::Type(_, ty) = returned else {
            return Err(Error::new(
                function.span(),
                "a tool says what it answers with: its return type is missing\n\
                 help: write `-> Result<T, Failure>`, with `()` for `T` if there is nothing to say",
            ));
        };
        let borrowed = match &**ty {
            Type::Reference(reference) => reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static"),
            _ => false,
        };
        if borrowed || matches!(**ty, Type::ImplTrait(_) | Type::TraitObject(_) | Type::Infer(_)) {
            return Err(Error::new_spanned(
                ty,
                "a tool names the type of its output and owns it: the output schema is made from it",
            ));
        }
        if last_segment(ty).is_none_or(|segment| segment != "Result") {
            return Ok(Self::Output(ty.clone()));
        }
        Ok(match written_parts(ty).as_slice() {
            [output, failure] => Self::Result { output: Box::new(output.clone()), failure: Box::new(failure.clone()) },
            _ => Self::Alias(ty.clone()),
        })
    }
}

/// The types between the angle brackets.
fn written_parts(ty: &Type) -> Vec<Type> {
    let Type::Path(path) = ty else { return Vec::new() };
    let Some(PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|segment| &segment.arguments)
    else {
        return Vec::new();
    };
    arguments
        .args
        .iter()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty.clone()),
            _ => None,
        })
        .collect()
}
