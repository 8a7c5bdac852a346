use super::*;
use std::collections::BTreeMap;
use std::time::Instant;

#[test]
fn bfcl() {
    let read = |name: &str| std::fs::read_to_string(format!("/work/shared/data/bfcl/{name}.jsonl")).unwrap();
    for rules in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        for key in ["input_schema", "parameters_raw"] {
            let mut words: BTreeMap<String, usize> = BTreeMap::new();
            let mut schemas = BTreeMap::new();
            let begun = Instant::now();
            let mut examples = Vec::new();
            let text = read("tools");
            let docs: Vec<_> = text.lines().map(|l| document(l)).collect();
            let begun2 = Instant::now();
            for doc in &docs {
                let id = doc.root().get("id").unwrap().as_str().unwrap().into_owned();
                match Schema::admit(&doc.root().get(key).unwrap().to_document(), Role::Input, rules) {
                    Ok(s) => {
                        *words.entry("ok".into()).or_default() += 1;
                        schemas.insert(id, s);
                    }
                    Err(e) => {
                        if examples.len() < 5 {
                            examples.push(e.to_string());
                        }
                        *words.entry(e.word().into()).or_default() += 1;
                    }
                }
            }
            println!(
                "{rules:?} {key} {words:?} admit {:?} ({:?})",
                begun2.elapsed(),
                begun.elapsed()
            );
            for e in examples {
                println!("   {e}");
            }
            if key == "parameters_raw" {
                continue;
            }
            let calls = read("calls");
            let begun = Instant::now();
            for s in schemas.values() {
                _ = s.validate(&Document::empty_object());
            }
            println!(" first use {:?}", begun.elapsed());
            let mut out: BTreeMap<String, usize> = BTreeMap::new();
            let mut nulls = 0;
            let calls: Vec<_> = calls.lines().map(|l| document(l)).collect();
            let args: Vec<_> = calls
                .iter()
                .map(|c| {
                    (
                        c.root().get("tool").unwrap().as_str().unwrap().into_owned(),
                        c.root().get("arguments").unwrap().to_document(),
                    )
                })
                .collect();
            let begun = Instant::now();
            for (tool, args) in &args {
                let Some(s) = schemas.get(tool) else {
                    *out.entry("no tool".into()).or_default() += 1;
                    continue;
                };
                match s.validate(args) {
                    Ok(()) => *out.entry("ok".into()).or_default() += 1,
                    Err(v) => {
                        let f = v.iter().next().unwrap();
                        if args.root().pointer(&f.instance_pointer).is_some_and(|n| n.is_null()) {
                            nulls += 1;
                        }
                        *out.entry(format!("bad {}", f.keyword)).or_default() += 1
                    }
                }
            }
            println!(" calls {out:?} nulls {nulls} in {:?}", begun.elapsed());
        }
    }
}

#[test]
fn mcp() {
    for rules in [UnknownFields::AsDeclared, UnknownFields::Refuse] {
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        let mut slow = Vec::new();
        for entry in std::fs::read_dir("/work/shared/data/mcp-tools").unwrap() {
            let p = entry.unwrap().path();
            let d = document(&std::fs::read_to_string(&p).unwrap());
            for tool in d.root().get("tools").unwrap().elements() {
                for (k, role) in [("inputSchema", Role::Input), ("outputSchema", Role::Output)] {
                    let Some(s) = tool.get(k) else { continue };
                    let s = s.to_document();
                    let b = Instant::now();
                    let r = Schema::admit(&s, role, rules);
                    slow.push((
                        b.elapsed(),
                        s.text().len(),
                        tool.get("name").unwrap().as_str().unwrap().into_owned(),
                    ));
                    let w = match r {
                        Ok(_) => "ok".to_owned(),
                        Err(e) => {
                            println!("{} {e}", p.display());
                            e.word().to_owned()
                        }
                    };
                    *words.entry(w).or_default() += 1;
                }
            }
        }
        slow.sort();
        println!(
            "{rules:?} {words:?} median {:?} max {:?}",
            slow[slow.len() / 2],
            slow.last()
        );
    }
}

#[test]
fn openapi() {
    for f in ["box.com", "notion.com", "slack.com", "spotify.com"] {
        let d = document(&std::fs::read_to_string(format!("/work/shared/data/openapi/{f}.json")).unwrap());
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        let mut ex = Vec::new();
        for (_, s) in d
            .root()
            .pointer("/components/schemas")
            .or(d.root().get("definitions"))
            .into_iter()
            .flat_map(|n| n.members())
        {
            let text = s
                .raw()
                .replace("#/components/schemas/", "#/$defs/")
                .replace("#/definitions/", "#/$defs/");
            let Some(rest) = text.trim().strip_prefix('{') else {
                continue;
            };
            let defs = d
                .root()
                .pointer("/components/schemas")
                .or(d.root().get("definitions"))
                .unwrap()
                .raw()
                .replace("#/components/schemas/", "#/$defs/")
                .replace("#/definitions/", "#/$defs/");
            let text = format!("{{\"$defs\":{defs},{rest}");
            let Ok(doc) = Document::parse(text, Limits::OWN) else {
                *words.entry("unparsed".into()).or_default() += 1;
                continue;
            };
            match Schema::admit(&doc, Role::Output, UnknownFields::Refuse) {
                Ok(_) => *words.entry("ok".into()).or_default() += 1,
                Err(e) => {
                    if ex.len() < 3 {
                        ex.push(e.to_string())
                    }
                    *words.entry(e.word().into()).or_default() += 1
                }
            }
            if words.values().sum::<usize>() > 40 {
                break;
            }
        }
        println!("{f} {words:?}");
        for e in ex {
            println!("  {e}");
        }
    }
}

#[test]
fn chain_cost() {
    for n in [500usize, 1000, 2000] {
        let through_items: Vec<_> = (0..n)
            .map(|at| format!(r##""{at}":{{"items":{{"$ref":"#/$defs/{}"}}}}"##, at + 1))
            .collect();
        let text = format!(
            r##"{{"$ref":"#/$defs/0","$defs":{{{},"{n}":{{}}}}}}"##,
            through_items.join(",")
        );
        let d = document(&text);
        let b = Instant::now();
        let mut g = crate::schema::Graph::walk(&d, crate::schema::Dialect::Draft202012).unwrap();
        println!("{n} walk {:?}", b.elapsed());
        let b = Instant::now();
        crate::schema::compile::check_against_meta_schema(&d, crate::schema::Dialect::Draft202012).unwrap();
        println!("{n} meta {:?}", b.elapsed());
        let b = Instant::now();
        g.resolve_references().unwrap();
        println!("{n} refs {:?}", b.elapsed());
        let b = Instant::now();
        crate::schema::limits::check_graph(&mut g).unwrap();
        println!("{n} graph {:?}", b.elapsed());
        let b = Instant::now();
        let (plain, _) = crate::schema::emit::Emitter::new(&g)
            .document(UnknownFields::AsDeclared)
            .unwrap();
        println!("{n} emit {:?} {}", b.elapsed(), plain.to_string().len());
        let b = Instant::now();
        crate::schema::compile::compile(&g, UnknownFields::AsDeclared).unwrap();
        println!("{n} compile {:?}", b.elapsed());
    }
}

/// Stack use per active schema.
#[test]
fn stack() {
    let step = |inner: &str| format!(r#"{{"allOf":[{{"anyOf":[{inner}]}}]}}"#);
    for (name, leaf) in [
        ("items", r##"{"items":{"$ref":"#"}}"##),
        ("props", r##"{"properties":{"a":{"$ref":"#"}}}"##),
        ("addl", r##"{"additionalProperties":{"$ref":"#"}}"##),
        (
            "props+addl",
            r##"{"properties":{"a":{"$ref":"#"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false,"type":"object"}"##,
        ),
        (
            "uneval",
            r##"{"properties":{"a":{"$ref":"#"}},"unevaluatedProperties":{"$ref":"#"}}"##,
        ),
        ("contains", r##"{"contains":{"$ref":"#"}}"##),
        (
            "ifthen",
            r##"{"if":{"items":{"$ref":"#"}},"then":{"items":{"$ref":"#"}}}"##,
        ),
        (
            "dep",
            r##"{"dependentSchemas":{"a":{"properties":{"a":{"$ref":"#"}}}}}"##,
        ),
    ] {
        for k in [0, 6] {
            let text = (0..k).fold(leaf.to_owned(), |i, _| step(&i));
            let schema = admitted(&text);
            let array = name == "items" || name == "contains" || name == "ifthen";
            let n = 100;
            let inst = if array {
                format!("{}{}", "[".repeat(n), "]".repeat(n))
            } else {
                format!("{}1{}", r#"{"a":"#.repeat(n), "}".repeat(n))
            };
            let inst = document(&inst);
            // find the smallest stack by running child processes
            for kib in [128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072] {
                let out = std::process::Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "schema::tests::adhoc::stack_child",
                        "--nocapture",
                        "--ignored",
                    ])
                    .env("T", &text)
                    .env("I", inst.text())
                    .env("K", kib.to_string())
                    .output()
                    .unwrap();
                if out.status.success() {
                    println!("{name} k={k}: {kib} KiB");
                    break;
                }
            }
            _ = schema;
        }
    }
}

#[test]
#[ignore]
fn stack_child() {
    let kib: usize = std::env::var("K").unwrap().parse().unwrap();
    let schema = admitted(&std::env::var("T").unwrap());
    let inst = document(&std::env::var("I").unwrap());
    _ = schema.validate(&Document::empty_object());
    std::thread::Builder::new()
        .stack_size(kib << 10)
        .spawn(move || {
            _ = schema.validate(&inst);
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn typical() {
    let schema = admitted(
        r#"{"type":"object","properties":{"to":{"type":"string","minLength":1},"amount":{"type":"integer","minimum":1,"maximum":1000},"memo":{"type":"string"}},"required":["to","amount"],"additionalProperties":false}"#,
    );
    let good = document(r#"{"to":"bob","amount":5,"memo":"hi"}"#);
    let bad = document(r#"{"to":"bob","amount":5,"is_admin":true}"#);
    _ = schema.validate(&good);
    let b = Instant::now();
    for _ in 0..100_000 {
        schema.validate(&good).unwrap();
    }
    println!("good {:?}", b.elapsed() / 100_000);
    let b = Instant::now();
    for _ in 0..10_000 {
        schema.validate(&bad).unwrap_err();
    }
    println!("bad {:?}", b.elapsed() / 10_000);
}
