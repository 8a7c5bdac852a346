//! Signatures of tokens: the one place that knows how they are checked (`ring`, which is here for TLS).

use lockgate::config::JwtAlgorithm;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey,
};

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PublicKey {
    /// RSA of 2048 to 8192 bits: modulus and exponent, big-endian.
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    /// A point on P-256, uncompressed.
    P256([u8; 65]),
    /// Ed25519.
    Ed25519([u8; 32]),
}

impl PublicKey {
    /// Whether a signature of this kind can be this key's.
    pub(super) fn fits(&self, algorithm: JwtAlgorithm) -> bool {
        matches!(
            (self, algorithm),
            (Self::Rsa { .. }, JwtAlgorithm::Rs256 | JwtAlgorithm::Ps256)
                | (Self::P256(_), JwtAlgorithm::Es256)
                | (Self::Ed25519(_), JwtAlgorithm::EdDsa)
        )
    }

    /// Whether this key signed these bytes, in this way and no other.
    pub(super) fn signed(&self, algorithm: JwtAlgorithm, bytes: &[u8], signature: &[u8]) -> bool {
        let rsa = |parameters: &'static RsaParameters, n: &[u8], e: &[u8]| {
            RsaPublicKeyComponents { n, e }.verify(parameters, bytes, signature).is_ok()
        };
        match (self, algorithm) {
            (Self::Rsa { modulus, exponent }, JwtAlgorithm::Rs256) => {
                rsa(&RSA_PKCS1_2048_8192_SHA256, modulus, exponent)
            }
            (Self::Rsa { modulus, exponent }, JwtAlgorithm::Ps256) => rsa(&RSA_PSS_2048_8192_SHA256, modulus, exponent),
            (Self::P256(point), JwtAlgorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(bytes, signature).is_ok()
            }
            (Self::Ed25519(key), JwtAlgorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, key).verify(bytes, signature).is_ok()
            }
            _ => false,
        }
    }
}
