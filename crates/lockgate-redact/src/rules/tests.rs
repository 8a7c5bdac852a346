//! Every rule with what it must find and what it must leave alone.
//!
//! The examples are put together from pieces, so that no scanner takes this file for a leak.

use super::*;
use crate::{Scrubber, ScrubberBuilder};
use lockgate_contract::ports::Redactor as _;

struct Examples {
    label: &'static str,
    found: Vec<String>,
    left: Vec<String>,
}

const LETTERS: &str =
    "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG2hJ4lM6nP8rS0tV2xY4zA6cD8eF1iL3oR5uX7wK9qB2kT4gN6jH8mV1pZ3sC5yD7fG9aE2";
const HEX: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef1032547698badcfe";

fn letters(prefix: &str, count: usize) -> String {
    format!("{prefix}{}", &LETTERS[..count])
}

fn hex(prefix: &str, count: usize) -> String {
    prefix.chars().chain(HEX.chars().cycle().take(count)).collect()
}

fn examples() -> Vec<Examples> {
    let of = |label, found: Vec<String>, left: Vec<&str>| Examples {
        label,
        found,
        left: left.into_iter().map(str::to_owned).collect(),
    };
    vec![
        of(
            "age_key",
            vec![format!("AGE-SECRET-KEY-1{}", LETTERS[..58].to_ascii_uppercase())],
            vec!["AGE-SECRET-KEY-1 is the prefix"],
        ),
        of(
            "anthropic_key",
            vec![letters("sk-ant-api03-", 80), letters("sk-ant-", 12)],
            vec!["sk-ant-…", "sk-ant-short"],
        ),
        of("atlassian_token", vec![letters("ATATT3", 90)], vec!["ATATT3", "ATATT3xFfGF0"]),
        of(
            "aws_access_key",
            vec!["AKIA".to_owned() + "QYLPMN5HNM6OWKBR", "ASIA".to_owned() + "QYLPMN5HNM6OWKBR"],
            vec![
                "AKIAIOSFODNN7EXAMPLE",
                "AKIASHORT",
                "ASIAN CUISINE",
                "xAKIAQYLPMN5HNM6OWKBR",
                "AKIAQYLPMN5HNM6OWKBRX",
            ],
        ),
        of(
            "azure_storage_key",
            vec![letters("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", 86) + "=="],
            vec!["AccountKey=", "AccountKey=<key>"],
        ),
        of("azure_sas_signature", vec![letters("?sv=2022-11-02&sig=", 41) + "%2F%3D"], vec!["sig=short", "config=ab"]),
        of("cloudflare_origin_key", vec![hex("v1.0-", 24) + &hex("-", 146)], vec!["v1.0-beta", "v1.0-rc.1"]),
        of("databricks_token", vec![hex("dapi", 32), hex("dapi", 32) + "-2"], vec!["dapi", "dapidapi", "dapi0123"]),
        of("digitalocean_token", vec![hex("dop_v1_", 64)], vec!["dop_v1_", "dop_v1_name"]),
        of(
            "discord_webhook",
            vec![letters("https://discord.com/api/webhooks/123456789012345678/", 68)],
            vec!["https://api.github.com/repos/o/r/webhooks/12345", "/webhooks/incoming"],
        ),
        of("docker_token", vec![letters("dckr_pat_", 27)], vec!["dckr_pat_"]),
        of(
            "github_token",
            vec![
                letters("ghp_", 36),
                letters("gho_", 36),
                letters("ghu_", 36),
                letters("ghs_", 36),
                letters("ghr_", 36),
                letters("github_pat_", 22) + "_" + &LETTERS[..59],
            ],
            vec![
                "ghp_",
                "ghp_short",
                "github_pat_",
                "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "highp_precision_is_a_qualifier",
            ],
        ),
        of("gitlab_token", vec![letters("glpat-", 20)], vec!["glpat-", "glpat-short"]),
        of("google_api_key", vec![letters("AIza", 35)], vec!["AIza", "AIzaShort"]),
        of("google_client_secret", vec![letters("GOCSPX-", 28)], vec!["GOCSPX-"]),
        of("google_oauth_token", vec![letters("ya29.", 60)], vec!["ya29.", "ya29. and so on"]),
        of("grafana_token", vec![letters("glsa_", 32) + "_" + &HEX[..8]], vec!["glsa_"]),
        of("groq_key", vec![letters("gsk_", 52)], vec!["gsk_", "gsk_name"]),
        of("huggingface_token", vec![letters("hf_", 34)], vec!["hf_hub_download", "hf_", "hf_transformers_version"]),
        of(
            "jwt",
            vec![
                letters("eyJ", 17) + "." + &letters("eyJ", 40) + "." + &LETTERS[..43],
                letters("eyJ", 17) + "." + &letters("eyJ", 40),
                letters("eyJ", 17) + ".." + &LETTERS[..16] + "." + &LETTERS[..40] + "." + &LETTERS[..22],
            ],
            vec!["eyJ", "eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.", "keyJar.value.other"],
        ),
        of("linear_key", vec![letters("lin_api_", 40)], vec!["lin_api_", "lin_api_client"]),
        of(
            "mailgun_key",
            vec![hex("key-", 32)],
            vec!["key-value", "cache-key-d41d8cd98f00b204e9800998ecf8427e", "key-d41d8cd9"],
        ),
        of("npm_token", vec![letters("npm_", 36)], vec!["npm_config_registry", "npm_lifecycle_event"]),
        of(
            "openai_key",
            vec![letters("sk-", 48), letters("sk-proj-", 80), letters("sk-svcacct-", 40), hex("sk-", 32)],
            vec![
                "sk-learn",
                "task-list",
                "risk-based-authentication-for-everyone-in-the-organisation",
                "disk-abcdefghijklmnopqrstuvwxyz0123456789",
                "sk-project-planning",
                "a-sk-abcdefghijklmnopqrstuvwxyz012345",
            ],
        ),
        of("openrouter_key", vec![hex("sk-or-v1-", 64)], vec!["sk-or-v1-"]),
        of("pypi_token", vec![letters("pypi-AgEIcHlwaS5vcmc", 80)], vec!["pypi-Agent", "pypi-publish"]),
        of("sendgrid_key", vec![letters("SG.", 22) + "." + &LETTERS[..43]], vec!["SG.", "MSG.send.it", "SG.1.2"]),
        of(
            "shopify_token",
            vec![hex("shpat_", 32), hex("shpss_", 32), hex("shpca_", 32), hex("shppa_", 32)],
            vec!["shpat_", "shpbuild", "shape"],
        ),
        of(
            "slack_token",
            vec![
                "xoxb-".to_owned() + "2345678901-2345678901234-" + &LETTERS[..24],
                "xoxp-".to_owned() + "1234567890-abc",
                "xapp-1-".to_owned() + &LETTERS[..20],
            ],
            vec!["xox", "xoxo-", "xoxb-", "xapp-1-short"],
        ),
        of(
            "slack_webhook",
            vec!["https://hooks.slack.com/services/".to_owned() + "T01ABCDEF/B01ABCDEF/" + &LETTERS[..24]],
            vec!["https://hooks.slack.com/", "hooks.slack.com/services/…"],
        ),
        of(
            "square_token",
            vec![letters("sq0atp-", 22), letters("sq0csp-", 43), letters("EAAA", 60)],
            vec!["sq0atp-", "EAAAAAAAAA", "sq0"],
        ),
        of(
            "stripe_key",
            vec![
                letters("sk_live_", 24),
                letters("rk_live_", 24),
                letters("sk_test_", 24),
                "sk-live-".to_owned() + "EXAMPLE",
                "sk-live-".to_owned() + "a1b2c3d4e5",
            ],
            vec![
                "sk_live_",
                "task_live_reload",
                "disk_test_abcdefgh12",
                "sk-live-",
                concat!("sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"),
            ],
        ),
        of("stripe_webhook_secret", vec![letters("whsec_", 32)], vec!["whsec_", "whsec_test"]),
        of("tailscale_key", vec![letters("tskey-auth-", 12) + "-" + &LETTERS[..32]], vec!["tskey-auth-", "tskey-"]),
        of(
            "telegram_token",
            vec![letters("123456789:AA", 33), letters("https://api.telegram.org/bot123456789:AA", 33) + "/getMe"],
            vec!["12:AA", "name:AAAA", "00:AA:BB:CC:DD:EE"],
        ),
        of("twilio_key", vec![hex("SK", 32)], vec!["SK", "SKU-1234", "TASK", "SK0f1e2d3c"]),
        of("vault_token", vec![letters("hvs.", 24)], vec!["hvs.", "hvs.json"]),
        of("xai_key", vec![letters("xai-", 80)], vec!["xai-org", "xai-grok-beta"]),
    ]
}

fn scrubber() -> Scrubber {
    ScrubberBuilder::new().build().unwrap()
}

#[test]
fn every_rule_finds_its_examples_and_leaves_the_others() {
    let scrubber = scrubber();
    for Examples { label, found, left } in examples() {
        for example in found {
            for text in
                [example.clone(), format!("see {example}, then"), format!("\"{example}\""), format!("a\\n{example}\\n")]
            {
                let clean = scrubber.scrub(&text);
                assert!(clean.contains(&format!("[redacted:{label}#")), "{label}: {text} became {clean}");
                assert!(!clean.contains(&example), "{label}: {text} became {clean}");
            }
        }
        for example in left {
            assert_eq!(scrubber.scrub(&example), example, "{label}");
        }
    }
}

#[test]
fn every_rule_has_an_example_of_its_own() {
    for rule in RULES {
        let compiled = CompiledRule::new(rule);
        let reached = examples()
            .iter()
            .filter(|examples| examples.label == rule.label)
            .flat_map(|examples| &examples.found)
            .any(|text| {
                rule.literals.iter().any(|literal| {
                    text.match_indices(literal)
                        .any(|(at, _)| compiled.find(text, at, &mut Effort::for_text(text.len()), |_| false).is_some())
                })
            });
        assert!(reached, "no example reaches the rule for {} with {:?}", rule.label, rule.literals);
        assert!(examples().iter().any(|examples| examples.label == rule.label && !examples.left.is_empty()));
    }
}

#[test]
fn every_literal_of_a_rule_is_reached() {
    for rule in RULES {
        for literal in rule.literals {
            let used = examples().iter().flat_map(|examples| &examples.found).any(|text| text.contains(literal));
            assert!(used, "no example has the literal {literal}");
        }
    }
}

#[test]
fn every_pattern_compiles_and_begins_with_the_token() {
    for rule in RULES {
        assert!(Regex::new(rule.pattern).is_ok(), "{}", rule.label);
        assert!(rule.pattern.starts_with('^'), "{} would search the whole text", rule.label);
    }
}

#[test]
fn a_rule_without_its_pattern_takes_the_whole_word() {
    static BROKEN: Rule = Rule {
        label: "broken",
        literals: &["tok_"],
        lead: Lead::Bytes(0),
        boundary: Boundary::Word,
        pattern: "^tok_(",
    };
    let finding = CompiledRule::new(&BROKEN).find("a tok_secret b", 2, &mut Effort::for_text(14), |_| false).unwrap();
    assert_eq!(finding.value, "tok_secret");
}
