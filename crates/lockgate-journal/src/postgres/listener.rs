//! Hearing which runs have something new: the other end of `news`.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Once};
use std::time::Duration;

use futures_util::future::select;
use lockgate_contract::ids::RunId;
use tokio::runtime::Handle;
use tokio::time::sleep;
use tokio_postgres::{AsyncMessage, Error, NoTls};

use super::address::Address;
use crate::followers::Followers;

/// How long until a connection that was lost is made again. Followers look by themselves meanwhile.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection of its own that listens, from the first follower on.
pub(super) struct Listener {
    started: Once,
    address: Address,
    pub(super) followers: Arc<Followers>,
    runtime: Handle,
}

impl Listener {
    pub(super) fn new(address: Address, runtime: Handle) -> Self {
        let followers = Arc::new(Followers::new(Some(runtime.clone())));
        Self { started: Once::new(), address, followers, runtime }
    }

    /// Listens from now on, until the runtime ends.
    pub(super) fn start(&self) {
        self.started.call_once(|| {
            let (address, followers) = (self.address.clone(), Arc::clone(&self.followers));
            self.runtime.spawn(async move {
                loop {
                    // Why it ended changes nothing: whoever follows looks by himself until it hears again.
                    let _ = listen(&address, &followers).await;
                    sleep(PAUSE).await;
                }
            });
        });
    }
}

/// Passes on what is heard until the connection ends.
async fn listen(address: &Address, followers: &Followers) -> Result<(), Error> {
    let (client, mut connection) = address.config.connect(NoTls).await?;
    let hearing = pin!(async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(heard) = message? {
                followers.wake(&RunId::new(heard.payload()));
            }
        }
        Ok(())
    });
    let listening = pin!(async {
        client.batch_execute("LISTEN lockgate_runs").await?;
        // The connection lives as long as its client does.
        std::future::pending().await
    });
    // Beside each other: what answers the command is the loop that hears.
    select(hearing, listening).await.factor_first().0
}
