//! Tokens that reach one run.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lockgate::contract::ids::RunId;
use lockgate::contract::ports::Clock as _;
use lockgate_server::auth::run_path;
use lockgate_server::tokens::RunKey;
use tempfile::TempDir;

use crate::world::{World, agent};

const AUTH: &str = "run_key_file = \"run.key\"\ntokens_file = \"tokens.toml\"";
const HOUR: Duration = Duration::from_hours(1);

async fn world() -> World {
    let make = |folder: &TempDir| assert!(RunKey::read_or_make(&folder.path().join("run.key")).is_ok());
    World::with(AUTH, "", make, false).await
}

#[tokio::test]
async fn it_reaches_its_run_and_nothing_else() {
    let world = world().await;
    let run = world.asked("one").await.run_id;
    let other = world.asked("two").await.run_id;
    let key = RunKey::read_or_make(&world.path("run.key")).unwrap();
    let (token, _) = key.seal(&run, world.clock.now(), HOUR);
    let answer = world.call(&run_path(&run), &token).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let who = answer.json();
    assert_eq!(who["run"], run.as_str());
    assert!(who["credential"].as_str().unwrap().starts_with(&format!("run:{run}:")), "{who}");
    //
    assert_eq!((&who["subject"]["user"], &who["subject"]["agent"]), (&"alice".into(), &"night-watch".into()));
    for target in ["/mcp".to_owned(), run_path(&other), "/runs/".to_owned(), format!("/runs/{run}x/mcp")] {
        let answer = world.call(&target, &token).await;
        assert_eq!((answer.status, answer.body.as_str()), (403, "this credential is not for this run\n"), "{target}");
    }
    // Another credential of the same subject is not the run's.
    let agents = world.token(agent("ci"));
    assert_eq!(world.call(&run_path(&run), &agents).await.status, 403);
    assert_eq!(world.get(&run_path(&run), &[]).await.status, 401);
}

// A run that is over acts for nobody: its budget, its limits and its end are behind it.
#[tokio::test]
async fn it_ends_with_its_run() {
    let world = world().await;
    let [over, goes_on] = [world.asked("one").await, world.asked("two").await];
    let key = RunKey::read_or_make(&world.path("run.key")).unwrap();
    let [(old, _), (other, _)] = [&over, &goes_on].map(|asked| key.seal(&asked.run_id, world.clock.now(), HOUR));
    assert_eq!(world.call(&run_path(&over.run_id), &old).await.status, 200);
    world.ended(&over).await;
    let answer = world.call(&run_path(&over.run_id), &old).await;
    assert_eq!(answer.status, 401, "{answer:?}");
    let never = RunId::new("run-ffffffffffff");
    let (never_was, _) = key.seal(&never, world.clock.now(), HOUR);
    assert_eq!(answer.body, world.call(&run_path(&never), &never_was).await.body, "as if there had been none");
    assert_eq!(world.call(&run_path(&goes_on.run_id), &other).await.status, 200, "another goes on");
}

#[tokio::test]
async fn its_time_ends_and_so_does_its_key() {
    let world = world().await;
    let run = world.asked("one").await.run_id;
    let key = RunKey::read_or_make(&world.path("run.key")).unwrap();
    let (token, until) = key.seal(&run, world.clock.now(), HOUR);
    assert_eq!(until, world.clock.now().after(HOUR).min(until));
    assert_eq!(world.call(&run_path(&run), &token).await.status, 200);
    std::fs::remove_file(world.path("run.key")).unwrap();
    assert_eq!(world.call(&run_path(&run), &token).await.status, 503, "there is no key");
    let other = RunKey::read_or_make(&world.path("run.key")).unwrap();
    assert_eq!(world.call(&run_path(&run), &token).await.status, 401, "another key opens nothing");
    let (token, _) = other.seal(&run, world.clock.now(), HOUR);
    assert_eq!(world.call(&run_path(&run), &token).await.status, 200);
    world.clock.forward(HOUR);
    assert_eq!(world.call(&run_path(&run), &token).await.status, 401);
}

#[tokio::test]
async fn what_is_under_the_seal_cannot_be_changed() {
    let world = world().await;
    let run = world.asked("one").await.run_id;
    let other = world.asked("two").await.run_id;
    let key = RunKey::read_or_make(&world.path("run.key")).unwrap();
    let (token, _) = key.seal(&run, world.clock.now(), HOUR);
    let (said, seal) = token.strip_prefix("lgt_RUN_").unwrap().split_once('.').unwrap();
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(said).unwrap()).unwrap();
    let forged = URL_SAFE_NO_PAD.encode(text.replace(run.as_str(), other.as_str()));
    for wrong in [
        format!("lgt_RUN_{forged}.{seal}"),
        format!("lgt_RUN_{said}."),
        format!("lgt_RUN_{said}"),
        format!("lgt_run_{said}.{seal}"),
    ] {
        assert_eq!(world.call(&run_path(&other), &wrong).await.status, 401, "{wrong}");
    }
    let nowhere = RunId::new("run-ffffffffffff");
    let (token, _) = key.seal(&nowhere, world.clock.now(), HOUR);
    assert_eq!(world.call(&run_path(&nowhere), &token).await.status, 401, "there is no such run");
}
