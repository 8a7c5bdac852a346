use std::sync::atomic::{AtomicU64, Ordering};

use super::{CountReader, Counts};
use crate::ports::{BoxFuture, Count, JournalError, Per, Seen};

fn count(name: &str) -> Count {
    Count { name: name.to_owned(), tool: None, effect: None, per: Per::Run, within: None, from: None }
}

/// Every look-up is told from the one before.
#[derive(Default)]
struct Rising(AtomicU64);

impl CountReader for Rising {
    fn admitted<'a>(&'a self, counts: &'a [Count]) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(vec![number; counts.len()]) })
    }
}

struct Broken;

impl CountReader for Broken {
    fn admitted<'a>(&'a self, _counts: &'a [Count]) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        Box::pin(async { Err(JournalError::unavailable("the disk is gone")) })
    }
}

#[tokio::test]
async fn a_number_is_read_once_and_what_an_answer_depends_on_is_told() {
    let rising = Rising::default();
    let counts = Counts::read_by(&rising);
    let (first, second, shadow) = (count("first"), count("second"), count("shadow"));
    counts.read(std::slice::from_ref(&first)).await.unwrap();
    counts.look(std::slice::from_ref(&shadow)).await.unwrap();
    counts.read(&[first.clone(), second.clone()]).await.unwrap();
    assert_eq!([&first, &shadow, &second].map(|it| counts.get(it)), [Some(0), Some(1), Some(2)]);
    let seen = [Seen { count: first, admitted: 0 }, Seen { count: second, admitted: 2 }];
    assert_eq!(counts.seen(), seen);
    // What was only looked at binds nobody, until an answer depends on it.
    counts.read(std::slice::from_ref(&shadow)).await.unwrap();
    assert_eq!(counts.seen().last().unwrap(), &Seen { count: shadow, admitted: 1 });
}

#[tokio::test]
async fn what_is_not_known_is_an_error() {
    let counts = Counts::of([(count("known"), 3)]);
    counts.read(&[count("known")]).await.unwrap();
    assert_eq!(counts.read(&[count("other")]).await.unwrap_err(), "the count `other` is not known here");
    assert_eq!((counts.seen().len(), counts.failure()), (1, None));
    let broken = Counts::read_by(&Broken);
    // Nothing follows from what is only looked at.
    broken.look(&[count("any")]).await.unwrap_err();
    assert_eq!(broken.failure(), None);
    broken.read(&[count("any")]).await.unwrap_err();
    assert_eq!(broken.failure(), Some(JournalError::unavailable("the disk is gone")));
    assert_eq!((broken.seen(), broken.get(&count("any"))), (Vec::new(), None));
}
