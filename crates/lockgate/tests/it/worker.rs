//! A worker over a journal: how many runs it drives at once, what it leaves alone, and what a late answer lets go on.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lockgate::contract::ids::RunId;
use lockgate::contract::run::RunStatus;
use lockgate::prelude::*;
use lockgate::worker::{Report, Worker, WorkerOptions};

use crate::world::{Turn, World, at_once, in_time};

/// What a worker told, a line each.
type Told = Arc<Mutex<Vec<String>>>;

fn asks(name: &str) -> Vec<Turn> {
    let call = ProposedCall {
        provider_call_id: "p1".to_owned(),
        name: name.to_owned(),
        arguments_text: "{}".to_owned(),
        language: ActionLanguage::Call,
    };
    vec![Turn::Calls(vec![call])]
}

/// A worker that ends when nothing is ready, and what it tells.
fn worker(world: &World, concurrency: usize, turns: fn() -> Vec<Turn>) -> (Worker, Told) {
    let told = Told::default();
    let (world, listener) = (world.clone(), Arc::clone(&told));
    let journal = Arc::clone(&world.journal);
    let options = WorkerOptions {
        concurrency,
        look: Duration::from_millis(5),
        until_idle: true,
        report: Arc::new(move |report| listener.lock().unwrap().push(line(&report))),
        ..WorkerOptions::default()
    };
    let prepare = Arc::new(move |state: &RunState, runner| match state.start().task.as_deref() {
        Some("Not mine.") => Err("this run is of another worker".into()),
        _ => Ok(world.clone().with_runner(runner).runner(turns())),
    });
    (Worker::new(journal, prepare, options), told)
}

fn line(report: &Report) -> String {
    match report {
        Report::Taken(_) => "taken".to_owned(),
        Report::Left(state) => RunResult::of(state).status.map_or("left", RunStatus::word).to_owned(),
        Report::Unfit { cause, .. } => cause.to_string(),
        other => format!("{other:?}"),
    }
}

async fn enqueue(world: &World) -> RunId {
    world.runner(Vec::new()).enqueue(world.agent_run()).await.unwrap().run_id().clone()
}

async fn status(world: &World, run: &RunId) -> Option<RunStatus> {
    world.journal.run(run).await.unwrap().unwrap().status
}

#[tokio::test]
async fn it_drives_no_more_runs_at_once_than_it_may() {
    for world in World::of_each_kind() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (under_way, highest) = (Arc::clone(&now), Arc::clone(&most));
        // Each waits for two others: with fewer at once, nothing would come to its end.
        let three = Arc::new(tokio::sync::Barrier::new(3));
        let act = in_time(move |_, _| {
            let (under_way, highest, three) = (Arc::clone(&under_way), Arc::clone(&highest), Arc::clone(&three));
            async move {
                highest.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                three.wait().await;
                under_way.fetch_sub(1, Ordering::SeqCst);
                Ok(Output::of("done"))
            }
        });
        world.add(ToolSpec::builder("slow").effect(Effect::Read), act);
        let mut runs = Vec::new();
        for _ in 0..6 {
            runs.push(enqueue(&world).await);
        }
        let (worker, told) = worker(&world, 3, || asks("slow"));
        worker.run().await;
        assert_eq!(most.load(Ordering::SeqCst), 3);
        for run in &runs {
            assert_eq!(status(&world, run).await, Some(RunStatus::Completed));
        }
        let told = told.lock().unwrap();
        assert_eq!(told.iter().filter(|line| *line == "completed").count(), 6, "{told:?}");
    }
}

#[tokio::test]
async fn two_workers_drive_each_run_once() {
    let world = World::on_disk();
    world.add(ToolSpec::builder("write").permission(Permission::Allow), at_once(|_| Ok(Output::of("done"))));
    for _ in 0..12 {
        enqueue(&world).await;
    }
    // The second one has the file as another process has it.
    let ((one, _), (other, _)) = (worker(&world, 2, || asks("write")), worker(&world.restarted(), 2, || asks("write")));
    tokio::join!(one.run(), other.run());
    let mut keys = world.keys();
    keys.sort();
    keys.dedup();
    assert_eq!((keys.len(), world.entered().len()), (12, 12));
    assert!(world.journal.ready(20).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_of_another_worker_is_not_touched() {
    let mut world = World::in_memory();
    "Not mine.".clone_into(&mut world.task);
    let run = enqueue(&world).await;
    let (worker, told) = worker(&world, 2, Vec::new);
    worker.run().await;
    worker.run().await;
    assert_eq!(*told.lock().unwrap(), ["this run is of another worker", "this run is of another worker"]);
    assert_eq!(world.journal.events(&run, 0).await.unwrap().len(), 1);
}

/// What it writes itself into a run that it cannot drive to its end is no reason to try again at once.
#[tokio::test]
async fn a_run_that_fails_is_left_alone_for_a_while() {
    let world = World::in_memory();
    let run = enqueue(&world).await;
    let told = Told::default();
    let (listener, other) = (Arc::clone(&told), world.clone());
    let options = WorkerOptions {
        look: Duration::from_millis(5),
        until_idle: true,
        report: Arc::new(move |report| listener.lock().unwrap().push(line(&report))),
        ..WorkerOptions::default()
    };
    let without_a_model = Arc::new(move |_: &RunState, runner| {
        Ok(Runner::new(Arc::clone(other.runner(Vec::new()).gate()), Arc::new(RandomIds), runner))
    });
    Worker::new(Arc::clone(&world.journal), without_a_model, options).run().await;
    let taken = |event: &lockgate::contract::event::Event| event.kind.word() == "run.lease_taken";
    assert_eq!(world.journal.events(&run, 0).await.unwrap().into_iter().filter(taken).count(), 1);
    let told = told.lock().unwrap();
    assert!(told.len() == 2 && told[1].contains("NoModel"), "{told:?}");
}

/// A time-out leaves the effect unknown and the run stopped; the answer that comes late says what happened.
#[tokio::test]
async fn a_late_answer_lets_its_run_go_on() {
    let mut world = World::on_disk();
    world.options.call_timeout = Duration::from_millis(20);
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let handler = Handler::untyped(move |_, _| {
        let wait = Arc::clone(&wait);
        async move {
            wait.lock().unwrap().recv().unwrap();
            Ok::<_, Failure>(Output::of("it was done"))
        }
    });
    let spec = ToolSpec::builder("patient").permission(Permission::Allow).handler(handler.blocking());
    world.registry.register(spec.build().unwrap()).unwrap();
    let run = enqueue(&world).await;
    let (first, _) = worker(&world, 1, || asks("patient"));
    first.run().await;
    assert_eq!(status(&world, &run).await, Some(RunStatus::NeedsReconciliation));
    let seen = world.journal.run(&run).await.unwrap().unwrap().last_seq;
    go.send(()).unwrap();
    let news = world.journal.follow(&run, seen).await.unwrap();
    assert_eq!(news[0].kind.word(), "call.reconciled");
    let (second, told) = worker(&world, 1, || asks("patient"));
    second.run().await;
    assert_eq!(*told.lock().unwrap(), ["taken", "completed"]);
    let results: Vec<_> =
        world.requests().pop().unwrap().messages.iter().map(|message| format!("{message:?}")).collect();
    assert!(results.iter().any(|message| message.contains("it was done")), "{results:?}"); // S-26
}
