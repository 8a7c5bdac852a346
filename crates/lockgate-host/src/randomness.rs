//! Random bits for ids, from the operating system.

use std::sync::atomic::{AtomicU64, Ordering};

use lockgate_contract::ports::{Clock, Ids};

use crate::clock::SystemClock;

/// Random bits from the operating system's generator.
///
/// Where the system has none to give (a jail without its device, very early at boot), the bits are mixed from the time, a
/// counter and an address instead: unique for what one machine does, but guessable. No id of Lockgate is a credential, so
/// that costs no safety, and a run is not lost for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn random(&self) -> u64 {
        getrandom::u64().unwrap_or_else(|_| without_the_system())
    }
}

/// Random bytes for a key, from the operating system's generator alone.
///
/// # Errors
///
/// Where the system has none to give: nothing else is good enough for a secret.
pub fn secret_bytes() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    for part in bytes.chunks_mut(8) {
        let bits = getrandom::u64().map_err(|error| std::io::Error::other(error.to_string()))?;
        part.copy_from_slice(&bits.to_le_bytes());
    }
    Ok(bytes)
}

/// The same bits never come twice from one process, and hardly from two: the counter tells calls apart, time and address
/// (which the system places at random) tell processes apart.
fn without_the_system() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // Each call steps on by an odd number, so that a process repeats itself after 2^64 calls at the earliest.
    let count = CALLS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let address = std::ptr::from_ref(&CALLS).addr() as u64;
    mix(start().wrapping_add(count) ^ address.rotate_left(32))
}

/// When this process first asked, in milliseconds, spread over all bits.
fn start() -> u64 {
    static START: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *START.get_or_init(|| mix(SystemClock.now().as_millis().cast_unsigned() ^ (u64::from(std::process::id()) << 44)))
}

/// A bijection in which each bit of the input changes about half of the output's bits: multiply and fold, twice.
fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests;
