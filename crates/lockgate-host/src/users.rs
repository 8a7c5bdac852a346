//! Whether the numbers of users mean what they mean to the machine.

/// Whether the numbers of users that this process sees are the system's own (`user_namespaces(7)`), as the kernel itself says.
/// In a namespace of its own a process gives itself any number, and may have put another file in place of the kernel's, or none:
/// what cannot be told is a no.
#[cfg(target_os = "linux")]
pub fn are_the_systems() -> bool {
    use std::fs::File;
    use std::io::Read as _;

    let Ok(mut file) = File::open("/proc/self/uid_map") else { return false };
    let is_the_kernels = rustix::fs::fstatfs(&file).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC);
    let mut map = String::new();
    is_the_kernels && file.read_to_string(&mut map).is_ok() && is_whole(&map)
}

/// Elsewhere there are no such namespaces.
#[cfg(not(target_os = "linux"))]
pub const fn are_the_systems() -> bool {
    true
}

/// Whether a map of users is the one of the system itself: every number is its own.
#[cfg(target_os = "linux")]
fn is_whole(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_whole;

    #[test]
    fn only_the_systems_own_map_tells_who_somebody_is() {
        assert!(is_whole("         0          0 4294967295\n"));
        for mapped in ["", "0 1000 1\n", "0 0 1\n", "0 100000 65536\n", "0 0 4294967295\n1 1 1\n"] {
            assert!(!is_whole(mapped), "{mapped}");
        }
    }
}
