//! A registry of 10, 1,000 and 100,000 tools.

use std::cell::LazyCell;
use std::hint::black_box;

use criterion::Criterion;
use lockgate::contract::allowed::AllowedTools;
use lockgate::prelude::*;
use lockgate::registry::Discovery;

const SIZES: [u32; 3] = [10, 1_000, 100_000];
/// Tools that ask for the same scope: what one subject with one scope sees.
const OF_A_SCOPE: u32 = 100;

fn tool(number: u32) -> ToolSpec {
    ToolSpec::builder(format!("tool_{number:06}"))
        .description("Prices an order.")
        .effect(Effect::Read)
        .scopes([format!("scope-{}", number / OF_A_SCOPE)])
        .input_schema_text(
            r#"{"type":"object","additionalProperties":false,"properties":{"order_id":{"type":"string"}},"required":["order_id"]}"#,
        )
        .handler(Handler::typed(|()| async { Ok(()) }))
        .build()
        .unwrap()
}

/// A registry of so many tools.
pub(crate) fn registry(size: u32) -> Registry {
    let registry = Registry::new(RegistryRules::default());
    for number in 0..size {
        registry.register(tool(number)).unwrap();
    }
    registry
}

pub(crate) fn sizes(criterion: &mut Criterion) {
    let mut next = 0;
    let empty = registry(0);
    criterion.bench_function("registry/define and register one more", |bencher| {
        bencher.iter(|| {
            empty.register(tool(next)).unwrap();
            next += 1;
        });
    });
    drop(empty);
    for size in SIZES {
        // Made when the first benchmark of this size runs: not when others are asked for.
        let world = LazyCell::new(|| World::new(size));
        let mut bench = |what: &str, action: &dyn Fn(&World)| {
            criterion.bench_function(&format!("registry of {size}/{what}"), |bencher| bencher.iter(|| action(&world)));
        };
        bench("look up for a run", &|world| drop(black_box(world.registry.resolve(&world.name, &world.allowed))));
        bench("discover by scope", &|world| drop(black_box(world.registry.discover(&world.subject))));
        bench("bind a run", &|world| drop(black_box(world.discovered.bind())));
        bench("show a model its tools", &|world| drop(black_box(world.registry.definitions(&world.allowed))));
        bench("describe all", &|world| drop(black_box(world.registry.describe())));
    }
}

/// A registry, and a subject that sees the tools of its last scope.
struct World {
    registry: Registry,
    subject: Subject,
    discovered: Discovery,
    allowed: AllowedTools,
    /// The last tool.
    name: String,
}

impl World {
    fn new(size: u32) -> Self {
        let registry = registry(size);
        let scope = format!("scope-{}", (size - 1) / OF_A_SCOPE);
        let subject = Subject { scopes: [scope].into(), ..Subject::default() };
        let discovered = registry.discover(&subject);
        let allowed = discovered.bind().allowed;
        Self { registry, subject, discovered, allowed, name: format!("tool_{:06}", size - 1) }
    }
}
