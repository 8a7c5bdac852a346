//! What a call is made of, each by itself.

use std::hint::black_box;

use criterion::Criterion;
use lockgate::contract::arguments::Arguments;
use lockgate::contract::document::Limits;
use lockgate::contract::effect::Permission;
use lockgate::contract::event::{Audit, Body, NewEvent, Settled};
use lockgate::contract::outcome::Status;
use lockgate::contract::ports::{Counts, PolicyRequest};
use lockgate::contract::run::RunFacts;
use lockgate::prelude::*;
use lockgate::registry::schema::{Role, Schema, UnknownFields};

use crate::setup::{ARGUMENTS, Receipt, price};

pub(crate) fn each(criterion: &mut Criterion) {
    criterion.bench_function("part/parse", |bencher| {
        bencher.iter(|| Arguments::parse(black_box(ARGUMENTS), Limits::ARGUMENTS).unwrap());
    });
    let arguments = Arguments::parse(ARGUMENTS, Limits::ARGUMENTS).unwrap();
    criterion.bench_function("part/digest", |bencher| bencher.iter(|| black_box(&arguments).digest()));
    let spec = price().build().unwrap();
    let input = Schema::admit(spec.input_schema(), Role::Input, UnknownFields::AsDeclared).unwrap();
    criterion.bench_function("part/validate the input", |bencher| {
        bencher.iter(|| input.validate(black_box(arguments.document())).unwrap());
    });
    criterion.bench_function("part/decode for the handler", |bencher| {
        bencher.iter(|| spec.handler().unwrap().prepare(black_box(&arguments)).unwrap());
    });
    let (policy, subject, counts) = (NativePolicy::new(), Subject::default(), Counts::unknown());
    criterion.bench_function("part/ask the native policy", |bencher| {
        bencher.iter(|| {
            drop(policy.decide(PolicyRequest {
                subject: &subject,
                tool: &spec,
                arguments: &arguments,
                arguments_digest: spec.definition(),
                permission: Permission::Allow,
                step: 0,
                run: RunFacts::default(),
                counts: &counts,
            }));
        });
    });
    let receipt = Receipt::new("A-1042".to_owned(), 1999, "second attempt, see ticket 7");
    criterion.bench_function("part/output of 1 KB into a document", |bencher| {
        bencher.iter(|| Document::from_serialize(black_box(&receipt)).unwrap());
    });
    let output = Document::from_serialize(&receipt).unwrap();
    let schema = Schema::admit(spec.output_schema().unwrap(), Role::Output, UnknownFields::AsDeclared).unwrap();
    criterion.bench_function("part/validate the output", |bencher| {
        bencher.iter(|| schema.validate(black_box(&output)).unwrap());
    });
    let scrubber = ScrubberBuilder::new().build().unwrap();
    criterion.bench_function("part/scrub the arguments", |bencher| {
        bencher.iter(|| {
            black_box(scrubber.scrub_document(black_box(arguments.document())));
            black_box(scrubber.scrub(black_box(ARGUMENTS)));
        });
    });
    criterion.bench_function("part/scrub 1 KB", |bencher| bencher.iter(|| scrubber.scrub_document(black_box(&output))));
    let settled = Arc::new(settled(&spec, &arguments, output));
    criterion.bench_function("part/text of the last event (a durable journal only)", |bencher| {
        bencher.iter(|| NewEvent::new(0, None, Body::Settled(black_box(&settled).clone())).data.text().len());
    });
}

fn settled(spec: &ToolSpec, arguments: &Arguments, output: Document) -> Settled {
    Settled {
        tool_name: spec.name().to_owned(),
        tool_version: Some(spec.version().to_owned()),
        ok: true,
        code: None,
        reason: None,
        status: Status::Executed,
        effect_state: lockgate::contract::effect::EffectState::Done,
        data: Some(output),
        message: None,
        details: None,
        retryable: false,
        meta: lockgate::contract::result::Meta::default(),
        env_reported_completion: false,
        audit: Audit {
            tool_version: Some(spec.version().to_owned()),
            definition: Some(spec.definition()),
            arguments_digest: Some(arguments.digest()),
            decision: Some("allow".into()),
            policies: vec!["native:declared-allow".to_owned()],
            ..Audit::default()
        },
    }
}
