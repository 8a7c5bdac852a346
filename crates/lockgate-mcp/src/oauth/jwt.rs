//! A client's signed word about itself (RFC 7523, ES256).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lockgate_contract::ports::Clock;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::json;

use super::{OAuthError, Secret, flow::random};

/// How long it holds.
const HOLDS: Duration = Duration::from_mins(1);

/// That it is `client` who speaks, to `audience`, now and once.
pub(super) fn about(client: &str, audience: &str, key: &Secret, clock: &dyn Clock) -> Result<Secret, OAuthError> {
    let now = clock.now();
    let seconds = |time: lockgate_contract::time::Timestamp| time.as_millis() / 1000;
    let claims = json!({
        "iss": client, "sub": client, "aud": audience,
        "iat": seconds(now), "exp": seconds(now.after(HOLDS)), "jti": random()?.expose(),
    });
    let header = json!({ "alg": "ES256", "typ": "JWT" });
    let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&header), part(&claims));
    let random = SystemRandom::new();
    let wrong = || OAuthError::Settings("the client's key is no private key for ES256 in PEM and PKCS #8".to_owned());
    let der = der(key.expose()).ok_or_else(wrong)?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &random).map_err(|_| wrong())?;
    let signature = pair.sign(&random, signed.as_bytes()).map_err(|_| wrong())?;
    Ok(Secret::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))))
}

/// What stands between the lines of a PEM.
fn der(pem: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (body, _) = rest.split_once("-----END PRIVATE KEY-----")?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()
}
