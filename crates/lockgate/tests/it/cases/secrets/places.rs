//! Where a secret can be put.

use super::*;

fn one(name: &str, arguments: &str) -> Vec<Turn> {
    vec![Turn::Calls(vec![proposed("c", name, arguments)])]
}

fn answering(world: &World, act_of_tool: Act) -> Vec<Turn> {
    world.add(act(Effect::Read), act_of_tool);
    one("act", "{}")
}

/// A policy that talks.
struct Talks(PolicyDecision, String);

impl PolicyEngine for Talks {
    fn decide<'a>(&'a self, _: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let verdict = PolicyVerdict::new(self.0, Vec::new(), self.1.clone());
        Box::pin(std::future::ready(Ok(verdict)))
    }
}

/// A policy that fails with words.
struct Breaks(String);

impl PolicyEngine for Breaks {
    fn decide<'a>(&'a self, _: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        Box::pin(std::future::ready(Err(self.0.clone())))
    }
}

/// Where the secret is, and what puts it there: a world made ready, and the model's turns.
pub(super) type Put = fn(&mut World, &'static str) -> Vec<Turn>;

pub(super) const PLACES: &[(&str, Put)] = &[
    ("the task", |world, secret| {
        world.task = format!("Log in with {secret} now.");
        Vec::new()
    }),
    ("the model's text", |_, secret| vec![Turn::Says(format!("it is {secret}"))]),
    ("the model's failure", |_, secret| vec![Turn::Fails(ModelError::InvalidRequest { detail: secret.to_owned() })]),
    ("an argument", |world, secret| {
        world.add(act(Effect::Write), at_once(|_| Ok(Output::of("done"))));
        one("act", &format!(r#"{{"password":{0},"deep":[{{"x":{0}}}]}}"#, quoted(secret)))
    }),
    ("an argument's key", |world, secret| {
        world.add(act(Effect::Write), at_once(|_| Ok(Output::of("done"))));
        one("act", &format!("{{{}:1}}", quoted(secret)))
    }),
    ("broken arguments", |world, secret| {
        world.add(act(Effect::Read), at_once(|_| Ok(Output::of("done"))));
        one("act", &format!("{{{secret}"))
    }),
    ("arguments that do not fit", |world, secret| {
        let schema = r#"{"type":"object","properties":{"n":{"enum":[1]}},"additionalProperties":false}"#;
        world.add(act(Effect::Read).input_schema_text(schema), at_once(|_| Ok(Output::of("done"))));
        one("act", &format!(r#"{{"n":{0},{0}:2}}"#, quoted(secret)))
    }),
    ("a tool's name", |_, secret| one(secret, "{}")),
    ("a provider's id", |world, secret| {
        world.add(act(Effect::Read), at_once(|_| Ok(Output::of("done"))));
        vec![Turn::Calls(vec![proposed(secret, "act", "{}")])]
    }),
    ("an output", |world, secret| answering(world, at_once(move |_| Ok(Output::of(&[("k", secret)]))))),
    ("an output's key", |world, secret| {
        answering(world, at_once(move |_| Ok(Output::raw(format!("{{{}:1}}", quoted(secret))))))
    }),
    ("an output's text", |world, secret| {
        answering(world, at_once(move |_| Ok(Output::text_from_bytes(format!("a\u{0}{secret}\n").as_bytes()))))
    }),
    ("JSON in an output's text", |world, secret| {
        answering(world, at_once(move |_| Ok(Output::of(&format!(r#"{{"inner":{}}}"#, quoted(secret))))))
    }),
    ("an output of a wrong form", |world, secret| {
        world.add(
            act(Effect::Read).output_schema_text(r#"{"type":"integer"}"#),
            at_once(move |_| Ok(Output::of(secret))),
        );
        one("act", "{}")
    }),
    ("an output that is no JSON", |world, secret| answering(world, at_once(move |_| Ok(Output::raw(secret))))),
    ("an output that is too large", |world, secret| {
        // On both sides of where the cut may fall.
        answering(world, at_once(move |_| Ok(Output::of(&format!("{secret}, ").repeat(10_000)))))
    }),
    ("a business failure", |world, secret| {
        answering(world, at_once(move |_| Err(ToolExecutionError::new("no", secret).into())))
    }),
    ("a failure's code", |world, secret| {
        answering(world, at_once(move |_| Err(ToolExecutionError::new(secret, "no").into())))
    }),
    ("a broken environment", |world, secret| {
        answering(world, at_once(move |_| Err(ToolEnvironmentError::new(secret).into())))
    }),
    ("a lost answer", |world, secret| {
        answering(world, at_once(move |_| Err(Failure::OutcomeUnknown { message: secret.to_owned() })))
    }),
    ("a bug", |world, secret| answering(world, at_once(move |_| Err(Failure::bug(secret))))),
    ("a panic", |world, secret| answering(world, at_once(move |_| panic!("{secret}")))),
    ("a vouched text", |world, secret| {
        world.add(act(Effect::Read).error_text(ErrorText::Vouched), at_once(move |_| Err(Failure::bug(secret))));
        one("act", "{}")
    }),
    ("the tool's own check", |world, secret| {
        world.add(act(Effect::Read).pre_check(move |_| Err(secret.to_owned())), at_once(|_| Ok(Output::of("done"))));
        one("act", "{}")
    }),
    ("progress", |world, secret| {
        answering(
            world,
            in_time(move |_, context: ToolContext| {
                context.progress(&format!("half way with {secret}"));
                std::future::ready(Ok(Output::of("done")))
            }),
        )
    }),
    ("a question", |world, secret| {
        world.add(act(Effect::Write).permission(Permission::Ask), at_once(|_| Ok(Output::of("done"))));
        one("act", &format!(r#"{{"a":{0},{0}:1}}"#, quoted(secret)))
    }),
    ("a policy that asks", |world, secret| {
        world.policy = Arc::new(Talks(PolicyDecision::Ask, secret.to_owned()));
        answering(world, at_once(|_| Ok(Output::of("done"))))
    }),
    ("a policy that denies", |world, secret| {
        world.policy = Arc::new(Talks(PolicyDecision::Deny, secret.to_owned()));
        answering(world, at_once(|_| Ok(Output::of("done"))))
    }),
    ("a policy that fails", |world, secret| {
        world.policy = Arc::new(Breaks(secret.to_owned()));
        answering(world, at_once(|_| Ok(Output::of("done"))))
    }),
];
