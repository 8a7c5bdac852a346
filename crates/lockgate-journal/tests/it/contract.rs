//! What every journal does, run against each of them.

macro_rules! contract {
    ($($test:ident;)+) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test(crate::support::Fixture::memory()).await;
            })+
        }
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

// After the macro that they use.
mod approvals;
mod calls;
mod keys;
mod leases;
mod ready;
mod runs;
mod upkeep;
