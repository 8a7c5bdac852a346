//! What every journal does, run against each of them.

/// For what a second handle can see: all but memory.
macro_rules! contract_of_what_is_kept {
    ($($test:ident;)+) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::support::Fixture::sqlite()).await;
            })+
        }
        mod sqlite_on_one_thread {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::support::Fixture::sqlite()).await;
            })+
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::support::Fixture::postgres()).await;
            })+
        }
    };
}

macro_rules! contract {
    ($($test:ident;)+) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::support::Fixture::memory()).await;
            })+
        }
        contract_of_what_is_kept! { $($test;)+ }
    };
}

// After the macros that they use.
mod approvals;
mod approvers;
mod calls;
mod counts;
mod handles;
mod keys;
mod leases;
mod prune;
mod quotas;
mod ready;
mod runs;
mod upkeep;
