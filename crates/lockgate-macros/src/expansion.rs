//! The code that takes the function's place.
//!
//! ```text
//! pub fn lookup_owner() -> ToolSpecBuilder {          same name, same visibility, no parameters
//!     struct Arguments { … }                          one field a parameter, unknown fields denied
//!     async fn lookup_owner(…) -> … { … }             the original: nobody outside can name it
//!     assertions                                      each type is fit for its place, at its own span
//!     ToolSpec::builder("lookup_owner")…              what the attribute says
//!         .handler(Handler::typed(|arguments| …))     the one call of the original
//! }
//! ```

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Ident, Item, ItemFn, Path, Result, parse_quote};

use crate::attribute::Options;
use crate::description;
use crate::parameter::{Parameter, Role};
use crate::returns::Returns;
use crate::signature::Tool;

/// The expansion, or what is wrong with the source.
pub(crate) fn expand(attribute: TokenStream, item: Item) -> TokenStream {
    let function = match item {
        Item::Fn(function) => function,
        other => {
            let fault = Error::new(Span::call_site(), "`#[tool]` stands on an async function").into_compile_error();
            return quote!(#fault #other);
        }
    };
    let options = syn::parse2::<Options>(attribute);
    let facade: Path = match &options {
        Ok(Options { facade: Some(path), .. }) => path.clone(),
        _ => parse_quote!(::lockgate),
    };
    checked(options, &function, &facade).unwrap_or_else(|faults| {
        let faults = faults.into_compile_error();
        let (outer, _) = divided(&function.attrs);
        let (visibility, name) = (&function.vis, &function.sig.ident);
        // Stands in for the tool, so that its users do not report that it is missing as well.
        quote! {
            #faults
            #(#outer)*
            #visibility fn #name() -> #facade::ToolSpecBuilder { ::core::unreachable!() }
        }
    })
}

fn checked(options: Result<Options>, function: &ItemFn, facade: &Path) -> Result<TokenStream> {
    let tool = Tool::read(function);
    let description = description::of(&function.attrs).ok_or_else(|| {
        Error::new(
            function.sig.ident.span(),
            "a tool needs a description: the model chooses by it\nhelp: write a doc comment (`/// …`) above the function",
        )
    });
    let (options, tool, description) = all(options, tool, description)?;
    Ok(Expansion { facade, function, options: &options, tool: &tool, description: &description }.tokens())
}

/// All three values, or all faults.
fn all<A, B, C>(a: Result<A>, b: Result<B>, c: Result<C>) -> Result<(A, B, C)> {
    match (a, b, c) {
        (Ok(a), Ok(b), Ok(c)) => Ok((a, b, c)),
        (a, b, c) => {
            let mut faults = [a.err(), b.err(), c.err()].into_iter().flatten();
            let first = faults.next().unwrap_or_else(|| Error::new(Span::call_site(), "this tool cannot be read"));
            Err(faults.fold(first, |mut together, fault| {
                together.combine(fault);
                together
            }))
        }
    }
}

struct Expansion<'a> {
    facade: &'a Path,
    function: &'a ItemFn,
    options: &'a Options,
    tool: &'a Tool,
    description: &'a str,
}

impl Expansion<'_> {
    fn tokens(&self) -> TokenStream {
        let (facade, private) = (self.facade, self.private());
        let (outer_attributes, _) = divided(&self.function.attrs);
        let (visibility, name) = (&self.function.vis, &self.tool.name);
        let arguments_struct = self.arguments_struct();
        let inner_function = self.inner_function();
        let assertions = self.assertions();
        let shown_name = match &self.options.name {
            Some(text) => text.value(),
            None => syn::ext::IdentExt::unraw(name).to_string(),
        };
        let description = self.description;
        let arguments_type = self.arguments_type();
        let output_schema = self.output_schema();
        let handler = self.handler();
        let calls = self.options.builder_calls(&private);
        quote! {
            #(#outer_attributes)*
            #[must_use = "a tool does nothing until it is built and registered"]
            #visibility fn #name() -> #facade::ToolSpecBuilder {
                #arguments_struct
                #inner_function
                #assertions
                #facade::ToolSpec::builder(#shown_name)
                    .description(#description)
                    .input_schema(#private::input_schema_of::<#arguments_type>())
                    #output_schema
                    #calls
                    .handler(#handler)
            }
        }
    }

    fn private(&self) -> TokenStream {
        let facade = self.facade;
        quote!(#facade::private)
    }

    /// The struct with one field a parameter; nothing if the tool brings its own.
    fn arguments_struct(&self) -> TokenStream {
        if self.tool.all_arguments().is_some() {
            return TokenStream::new();
        }
        let private = self.private();
        let name = generated_arguments();
        let serde = private.to_string().replace(' ', "") + "::serde";
        let schemars = private.to_string().replace(' ', "") + "::schemars";
        // serde knows no unknown fields where some are flattened; the schema refuses them there.
        let flattened = self.tool.arguments().any(Parameter::is_flattened);
        let deny = (!flattened).then(|| quote!(#[serde(deny_unknown_fields)]));
        let fields = self.tool.arguments().map(|parameter| {
            let Parameter { field_attributes, name, ty, .. } = parameter;
            quote!(#(#field_attributes)* #name: #ty)
        });
        quote! {
            #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            #deny
            #[allow(clippy::all, clippy::pedantic, reason = "its shape is that of the parameters")]
            struct #name { #(#fields),* }
        }
    }

    fn arguments_type(&self) -> TokenStream {
        match self.tool.all_arguments() {
            Some(parameter) => parameter.ty.to_token_stream(),
            None => generated_arguments().to_token_stream(),
        }
    }

    fn inner_function(&self) -> TokenStream {
        let (_, inner_attributes) = divided(&self.function.attrs);
        let (name, returned, block) = (&self.tool.name, &self.function.sig.output, &self.function.block);
        let (asyncness, fn_token) = (&self.function.sig.asyncness, &self.function.sig.fn_token);
        let parameters = self.tool.parameters.iter().map(Parameter::declaration);
        quote! {
            #(#inner_attributes)*
            #[allow(
                clippy::needless_pass_by_value, clippy::too_many_arguments, clippy::unused_async,
                reason = "a handler is asynchronous, owns its arguments, and has as many as the tool"
            )]
            #asyncness #fn_token #name(#(#parameters),*) #returned #block
        }
    }

    /// Names the arguments and the return type that are not fit for their place where they are written, and not only in
    /// the code that is derived from them.
    fn assertions(&self) -> TokenStream {
        let private = self.private();
        let arguments = self.tool.parameters.iter().filter(|parameter| parameter.role != Role::Context);
        let mut lines: TokenStream =
            arguments.map(|Parameter { ty, .. }| quote!(#private::assert_argument::<#ty>();)).collect();
        if let Returns::Output(ty) = &self.tool.returns {
            // `Result` serialises too: hidden behind another name, a failure would become an output.
            lines.extend(quote_spanned! {ty.span()=>
                const _: () = {
                    #[allow(unused_imports, reason = "only used where the type is no `Result`")]
                    use #private::IsNoResult as _;
                    ::core::assert!(
                        !#private::Returned::<#ty>::IS_RESULT,
                        "the return type of this tool is a `Result` under another name: write it as `Result<T, E>`"
                    );
                };
            });
        }
        lines
    }

    fn has_output_schema(&self) -> bool {
        self.options.output_schema != Some(false)
    }

    fn output_type(&self) -> TokenStream {
        let private = self.private();
        match &self.tool.returns {
            Returns::Output(ty) | Returns::Result { output: ty, .. } => ty.to_token_stream(),
            Returns::Alias(ty) => quote!(<#ty as #private::Fallible>::Output),
        }
    }

    fn output_schema(&self) -> TokenStream {
        if !self.has_output_schema() {
            return TokenStream::new();
        }
        let (private, output) = (self.private(), self.output_type());
        quote!(.output_schema(#private::output_schema::<#output>()))
    }

    fn handler(&self) -> TokenStream {
        let private = self.private();
        let name = &self.tool.name;
        let (arguments_type, output_type) = (self.arguments_type(), self.output_type());
        let mut uses_arguments = false;
        let mut context = quote!(_context);
        let mut parameters = Vec::new();
        for Parameter { role, name, ty, .. } in &self.tool.parameters {
            uses_arguments |= *role != Role::Context;
            parameters.push(match role {
                Role::Argument => quote!(arguments.#name),
                Role::AllArguments => quote!(arguments),
                Role::Context => {
                    context = quote_spanned!(ty.span()=> context);
                    context.clone()
                }
            });
        }
        let arguments = if uses_arguments { quote!(arguments) } else { quote!(_arguments) };
        let call = quote_spanned!(name.span()=> #name(#(#parameters),*).await);
        let result = match &self.tool.returns {
            Returns::Output(_) => quote!(::core::result::Result::Ok(#call)),
            Returns::Result { failure, .. } => quote! {
                match #call {
                    ::core::result::Result::Ok(output) => ::core::result::Result::Ok(output),
                    ::core::result::Result::Err(error) => {
                        ::core::result::Result::Err(#private::failure::<#failure>(error))
                    }
                }
            },
            Returns::Alias(ty) => quote!(<#ty as #private::Fallible>::into_result(#call)),
        };
        let constructor = if self.has_output_schema() { quote!(handler) } else { quote!(unlisted_handler) };
        let handler = quote! {
            #private::#constructor::<#arguments_type, #output_type, _, _>(
                |#arguments: #arguments_type, #context: #private::ToolContext| async move { #result }
            )
        };
        if self.options.blocking { quote!(#handler.blocking()) } else { handler }
    }
}

/// The name of the generated struct: one that no type of a user has, because theirs are in scope beside it.
fn generated_arguments() -> Ident {
    Ident::new("__LockgateArguments", Span::call_site())
}

/// What says something about the tool stays outside; what acts on the function's body goes inside with it.
fn divided(attributes: &[Attribute]) -> (Vec<&Attribute>, Vec<&Attribute>) {
    attributes.iter().partition(|attribute| {
        ["doc", "cfg", "cfg_attr", "deprecated"].iter().any(|outer| attribute.path().is_ident(outer))
    })
}
