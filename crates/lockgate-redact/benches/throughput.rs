//! How many bytes of text are scrubbed in a second: ordinary text, text that is nothing but beginnings of secrets, and both
//! through a stream.
//!
//! `cargo bench -p lockgate-redact`
#![expect(clippy::unwrap_used, reason = "a benchmark")]

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lockgate_contract::ports::Redactor as _;
use lockgate_redact::{Scrubber, ScrubberBuilder, SecretValue};

const LENGTH: usize = 1 << 20;

/// A log without a secret.
fn ordinary() -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= LENGTH {
            break;
        }
        let _ = writeln!(
            text,
            "2026-11-30T10:00:00Z INFO api: request {number} to https://api.example.com/v1/items/{number} took {} ms, status 200",
            number % 97
        );
    }
    text
}

/// Every line begins several secrets and ends none.
fn worst() -> String {
    let line =
        "token = key-value; password: String; sk-learn eyJhbGciOi ghp_short https://a:b /webhooks/ SG.x AKIA :AA\n";
    line.repeat(LENGTH / line.len() + 1)
}

/// One line of nothing but beginnings.
fn hostile() -> String {
    "A_TOKEN=$cookie: -eyJhbGciOiJIUzI1NiJ9".repeat(LENGTH / 38)
}

fn scrubber(secrets: usize) -> Scrubber {
    let mut builder = ScrubberBuilder::new();
    for number in 0..secrets {
        builder.secret(&format!("s{number}"), SecretValue::new(format!("correct-horse-{number:04}"))).unwrap();
    }
    builder.build().unwrap()
}

fn throughput(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("redaction");
    group.sample_size(20);
    for (name, text) in [("ordinary", ordinary()), ("worst", worst()), ("hostile", hostile())] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        for secrets in [0, 3] {
            let scrubber = scrubber(secrets);
            group.bench_function(format!("{name}/{secrets} known"), |bencher| {
                bencher.iter(|| scrubber.scrub(black_box(&text)).len());
            });
        }
        let scrubber = scrubber(3);
        group.bench_function(format!("{name}/stream"), |bencher| {
            bencher.iter(|| {
                let mut stream = scrubber.stream();
                let said: usize = text.as_bytes().chunks(65_536).map(|chunk| stream.push(chunk).len()).sum();
                said + stream.finish().len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
