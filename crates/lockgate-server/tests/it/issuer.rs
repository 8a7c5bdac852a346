//! An issuer of tokens: its keys, and whatever it is made to sign.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::contract::ports::Clock as _;
use lockgate::host::clock::SystemClock;
use ring::rand::SystemRandom;
use ring::rsa::{KeyPair as RsaKeyPair, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
};
use serde_json::{Value, json};

pub(super) const NAME: &str = "https://id.example.com";
pub(super) const RESOURCE: &str = "https://gate.example.com/mcp";

pub(super) struct Issuer {
    rsa: RsaKeyPair,
    ec: EcdsaKeyPair,
    ed: Ed25519KeyPair,
    random: SystemRandom,
}

impl Issuer {
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        let ec = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        Self {
            rsa: RsaKeyPair::from_pkcs8(include_bytes!("../fixtures/rsa.pk8")).unwrap(),
            ec: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, ec.as_ref(), &random).unwrap(),
            ed: Ed25519KeyPair::from_pkcs8(Ed25519KeyPair::generate_pkcs8(&random).unwrap().as_ref()).unwrap(),
            random,
        }
    }

    /// Its public keys, with ids.
    pub(super) fn keys(&self) -> Value {
        json!({ "keys": [self.rsa_key("rsa"), self.ec_key("ec"), self.ed_key("ed")] })
    }

    pub(super) fn rsa_key(&self, kid: &str) -> Value {
        let public = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        json!({ "kty": "RSA", "kid": kid, "n": text(&public.n), "e": text(&public.e) })
    }

    pub(super) fn ec_key(&self, kid: &str) -> Value {
        let point = self.ec.public_key().as_ref();
        json!({ "kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "x": text(&point[1..33]), "y": text(&point[33..]) })
    }

    pub(super) fn ed_key(&self, kid: &str) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": kid, "alg": "EdDSA", "x": text(self.ed.public_key().as_ref()) })
    }

    /// A token with this header and these claims, signed as the algorithm of the header says.
    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        self.sign_text(header["alg"].as_str().unwrap(), &header.to_string(), &claims.to_string())
    }

    pub(super) fn sign_text(&self, algorithm: &str, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", text(header.as_bytes()), text(claims.as_bytes()));
        let signature = self.signature(algorithm, signed.as_bytes());
        format!("{signed}.{}", text(&signature))
    }

    pub(super) fn signature(&self, algorithm: &str, bytes: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.rsa.public().modulus_len()];
        match algorithm {
            "RS256" => self.rsa.sign(&RSA_PKCS1_SHA256, &self.random, bytes, &mut signature).unwrap(),
            "PS256" => self.rsa.sign(&RSA_PSS_SHA256, &self.random, bytes, &mut signature).unwrap(),
            "ES256" => signature = self.ec.sign(&self.random, bytes).unwrap().as_ref().to_vec(),
            "EdDSA" => signature = self.ed.sign(bytes).as_ref().to_vec(),
            _ => signature.clear(),
        }
        signature
    }

    /// A good token, with claims changed.
    pub(super) fn token(&self, changed: Value) -> String {
        self.sign(&header("ES256", "ec"), &claims(changed))
    }
}

pub(super) fn header(algorithm: &str, kid: &str) -> Value {
    json!({ "alg": algorithm, "typ": "at+jwt", "kid": kid })
}

/// What a good token says, changed: `null` takes a claim out.
pub(super) fn claims(changed: Value) -> Value {
    let now = SystemClock.now().as_millis() / 1000;
    let mut claims = json!({
        "iss": NAME, "aud": RESOURCE, "sub": "carol", "client_id": "desk-agent", "scope": "tickets mcp",
        "iat": now, "exp": now + 300,
    });
    let Value::Object(changed) = changed else { panic!("{changed}") };
    for (name, value) in changed {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(&name);
        } else {
            claims[name] = value;
        }
    }
    claims
}

pub(super) fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
