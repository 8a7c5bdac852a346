//! `power-cut [IMAGES SEED]`: all cases with a table. With other words it is the program that is watched.

use std::path::Path;

use power_cut::{Failure, Fault, Promise, Recorder, Recording, Tally, child, cut, small_disk};

/// Rounds of each caller.
const ROUNDS: u32 = 40;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["child", journal, rounds] => child::write(Path::new(journal), rounds.parse()?).await,
        ["fill", journal] => small_disk::fill(Path::new(journal)).await,
        ["leave", journal] => small_disk::leave(Path::new(journal)).await,
        ["read-only", journal] => small_disk::read_only(Path::new(journal)).await,
        [] => prove(150, 1).await,
        [images, seed] => prove(images.parse()?, seed.parse()?).await,
        _ => Err("usage: power-cut [IMAGES SEED]".into()),
    }
}

/// Runs every case, prints the table, and fails when one does not show what it must.
#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
async fn prove(images: usize, seed: u64) -> Result<(), Failure> {
    let recorder = Recorder::compile()?.ok_or("power-cut: this needs Linux and a C compiler (`cc`)")?;
    let program = std::env::current_exe()?;
    println!(
        "{:<34} {:>6} {:>13} {:>7} {:>9} {:>5} {:>6} {:>5} {:>6}",
        "case", "images", "acknowledged", "refused", "unknown", "owed", "lost", "risen", "closed"
    );
    let part = images.div_ceil(4);
    let mut wrong = Vec::new();
    let mut show = |case: &str, recording: &Recording, tally: &Tally, must_lose: bool| {
        let said = |word| recording.said(word).count();
        println!(
            "{case:<34} {:>6} {:>13} {:>7} {:>9} {:>5} {:>6} {:>5} {:>6}",
            tally.images,
            said("ack"),
            said("refused"),
            said("unknown"),
            recording.owed(),
            tally.lost,
            tally.risen,
            tally.closed + tally.gaps,
        );
        let is_settled = said("unknown") > 0 || recording.owed() == 0;
        let holds = if must_lose { tally.with_losses > 0 } else { tally.is_clean() && is_settled };
        if !holds {
            wrong.push(format!("{case}: {tally:?}"));
        }
    };
    let whole = recorder.record(&program, ROUNDS, Fault::None)?;
    show("FULL, as it is", &whole, &cut(&whole, Promise::Full, images, seed).await?, false);
    show("NORMAL, which must lose", &whole, &cut(&whole, Promise::Normal, images, seed).await?, true);
    // From a disk that is full almost at once to one that is full late.
    for room in [4_700_000, 5_000_000, 6_000_001, 7_123_457] {
        let recording = recorder.record(&program, ROUNDS, Fault::Capacity(room))?;
        let tally = cut(&recording, Promise::Full, part, seed).await?;
        show(&format!("full at {room} bytes"), &recording, &tally, false);
    }
    for number in [9, 20, 21, 41, 60, 83] {
        let recording = recorder.record(&program, ROUNDS, Fault::Sync(number))?;
        let tally = cut(&recording, Promise::Full, part, seed).await?;
        show(&format!("sync {number} fails"), &recording, &tally, false);
    }
    for number in [60, 301, 500, 700] {
        let recording = recorder.record(&program, ROUNDS, Fault::Write(number))?;
        let tally = cut(&recording, Promise::Full, part, seed).await?;
        show(&format!("write {number} stops halfway"), &recording, &tally, false);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
