//! The token rules, in the order of their vendors' names. To add one: a rule here, its examples in `tests.rs`.
//!
//! All literals of this crate together must stay within the prefilter's 64 (a test counts them). Lengths are lower
//! bounds on purpose: vendors have lengthened their tokens before. Every pattern starts at the token's first character.

use super::{Boundary, Lead, Rule};

const fn rule(label: &'static str, literals: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { label, literals, lead: Lead::Bytes(0), boundary: Boundary::Word, pattern }
}

impl Rule {
    const fn after(mut self, boundary: Boundary) -> Self {
        self.boundary = boundary;
        self
    }

    const fn with_lead(mut self, lead: Lead) -> Self {
        self.lead = lead;
        self
    }
}

/// Every token rule.
pub(crate) const RULES: &[Rule] = &[
    rule("age_key", &["AGE-SECRET-KEY-"], r"^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{40,}"),
    rule("anthropic_key", &["sk-"], r"^sk-ant-[A-Za-z0-9_-]{12,}").after(Boundary::WordOrHyphen),
    rule("atlassian_token", &["ATATT3"], r"^ATATT3[A-Za-z0-9_=-]{60,}"),
    rule("aws_access_key", &["AKIA", "ASIA"], r"^A[KS]IA[A-Z0-9]{16}(?-u:\b)"),
    rule("azure_storage_key", &["AccountKey="], r"^AccountKey=([A-Za-z0-9+/]{40,}={0,2})").after(Boundary::Any),
    rule("azure_sas_signature", &["sig="], r"^sig=((?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2}){40,}={0,2})"),
    rule("cloudflare_origin_key", &["v1.0-"], r"^v1\.0-[0-9a-f]{24}-[0-9a-f]{64,}"),
    rule("databricks_token", &["dapi"], r"^dapi[0-9a-f]{32}(?:-[0-9])?(?-u:\b)"),
    rule("digitalocean_token", &["dop_v1_"], r"^dop_v1_[0-9a-f]{40,}"),
    rule("discord_webhook", &["/webhooks/"], r"^/webhooks/[0-9]{15,21}/([A-Za-z0-9_-]{30,})").after(Boundary::Any),
    rule("docker_token", &["dckr_pat_"], r"^dckr_pat_[A-Za-z0-9_-]{20,}"),
    rule(
        "github_token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"^gh[pousr]_[A-Za-z0-9_]{20,}(?:\.[A-Za-z0-9_-]{20,})*",
    ),
    rule("github_token", &["github_pat_"], r"^github_pat_[A-Za-z0-9_]{22,}"),
    rule("gitlab_token", &["glpat-"], r"^glpat-[A-Za-z0-9_-]{16,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?"),
    rule("google_api_key", &["AIza"], r"^AIza[A-Za-z0-9_-]{30,}"),
    rule("google_client_secret", &["GOCSPX-"], r"^GOCSPX-[A-Za-z0-9_-]{20,}"),
    rule("google_oauth_token", &["ya29."], r"^ya29\.[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]{10,})*"),
    rule("grafana_token", &["glsa_"], r"^glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    rule("groq_key", &["gsk_"], r"^gsk_[A-Za-z0-9]{32,}"),
    rule("huggingface_token", &["hf_"], r"^hf_[A-Za-z0-9]{30,}"),
    rule(
        "jwt",
        &["eyJ"],
        r"^eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]{10,})?|\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{8,}){3})",
    ),
    rule("linear_key", &["lin_api_"], r"^lin_api_[A-Za-z0-9]{30,}"),
    rule("mailgun_key", &["key-"], r"^key-[0-9a-f]{32}(?-u:\b)").after(Boundary::WordOrHyphen),
    rule("npm_token", &["npm_"], r"^npm_[A-Za-z0-9]{30,}"),
    rule("openai_key", &["sk-"], r"^sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{12,}|[A-Za-z0-9]{20,})")
        .after(Boundary::WordOrHyphen),
    rule("openrouter_key", &["sk-"], r"^sk-or-v1-[0-9a-f]{32,}").after(Boundary::WordOrHyphen),
    rule("pypi_token", &["pypi-Ag"], r"^pypi-Ag[A-Za-z0-9_-]{30,}"),
    rule("sendgrid_key", &["SG."], r"^SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    rule("shopify_token", &["shp"], r"^shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    rule("slack_token", &["xox"], r"^xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    rule("slack_token", &["xapp-"], r"^xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    rule(
        "slack_webhook",
        &["hooks.slack.com"],
        r"^hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
    ),
    rule("square_token", &["sq0"], r"^sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    rule("square_token", &["EAAA"], r"^EAAA[A-Za-z0-9_-]{60}(?-u:\b)"),
    rule("stripe_key", &["k_live_", "k_test_"], r"^[sr]k_(?:live|test)_[A-Za-z0-9]{8,}").with_lead(Lead::Bytes(1)),
    // Not a form that Stripe gives out, but one that people write in its place.
    rule("stripe_key", &["sk-"], r"^sk-(?:live|test)-[A-Za-z0-9][A-Za-z0-9_-]{5,}").after(Boundary::WordOrHyphen),
    rule("stripe_webhook_secret", &["whsec_"], r"^whsec_[A-Za-z0-9+/]{24,}=*"),
    rule("tailscale_key", &["tskey-"], r"^tskey-[a-z]+-[A-Za-z0-9]{6,}-[A-Za-z0-9]{16,}"),
    rule("telegram_token", &[":AA"], r"^[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}").with_lead(Lead::Digits).after(Boundary::Any),
    rule("twilio_key", &["SK"], r"^SK[0-9a-f]{32}(?-u:\b)"),
    rule("vault_token", &["hvs."], r"^hvs\.[A-Za-z0-9_-]{20,}"),
    rule("xai_key", &["xai-"], r"^xai-[A-Za-z0-9]{60,}"),
];
