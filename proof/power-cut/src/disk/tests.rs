use super::*;

fn write_step(file: &str, at: usize, bytes: &[u8]) -> Step {
    Step::Write { file: file.to_owned(), at, bytes: bytes.to_vec() }
}

fn sync(file: &str) -> Step {
    Step::Sync(file.to_owned())
}

fn disk(steps: &[Step]) -> Disk {
    let mut disk = Disk::default();
    for step in steps {
        disk.apply(step);
    }
    disk
}

/// What a file may hold after a power cut; nothing where it is not there.
fn contents(disk: &Disk, file: &str) -> std::collections::BTreeSet<Option<Vec<u8>>> {
    (0..200)
        .map(|seed| {
            let mut seed = Seed::new(seed);
            let cut = Cut::any(&mut seed);
            disk.image(cut, &mut seed).remove(file)
        })
        .collect()
}

#[test]
fn only_what_was_synced_is_sure() {
    let mut steps = vec![write_step("a", 0, b"one"), sync("a"), sync("")];
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"one".to_vec())].into());
    steps.push(write_step("a", 0, b"two"));
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"one".to_vec()), Some(b"two".to_vec())].into());
    steps.push(Step::Truncate { file: "a".to_owned(), size: 1 });
    let found = contents(&disk(&steps), "a");
    let all = [&b"one"[..], b"two", b"o", b"t"].map(|text| Some(text.to_vec()));
    assert_eq!(found, all.into());
    steps.push(sync("a"));
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"t".to_vec())].into());
}

#[test]
fn a_name_is_sure_with_its_folder() {
    let mut steps = vec![write_step("a", 0, b"one"), sync("a")];
    assert_eq!(contents(&disk(&steps), "a"), [None, Some(b"one".to_vec())].into());
    steps.push(sync(""));
    steps.push(Step::Remove("a".to_owned()));
    assert_eq!(contents(&disk(&steps), "a"), [None, Some(b"one".to_vec())].into());
    steps.extend([write_step("a", 0, b"two"), sync("a")]);
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"one".to_vec()), Some(b"two".to_vec())].into());
    steps.push(sync(""));
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"two".to_vec())].into());
}

#[test]
fn a_write_tears_at_sectors() {
    let steps = [write_step("a", 0, &[1; 1024]), sync("a"), sync(""), write_step("a", 256, &[2; 512])];
    let found = contents(&disk(&steps), "a");
    let with = |from: usize, to: usize| {
        let mut content = vec![1; 1024];
        content[from..to].fill(2);
        Some(content)
    };
    assert_eq!(found, [with(0, 0), with(256, 512), with(512, 768), with(256, 768)].into());
}

#[test]
fn what_a_failed_sync_lost_no_later_one_brings_back() {
    let mut steps = vec![write_step("a", 0, b"one"), sync("a"), sync(""), write_step("a", 0, b"two")];
    steps.extend([Step::FailedSync("a".to_owned()), sync("a")]);
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"one".to_vec()), Some(b"two".to_vec())].into());
    // Written once more, it is.
    steps.extend([write_step("a", 0, b"two"), sync("a")]);
    assert_eq!(contents(&disk(&steps), "a"), [Some(b"two".to_vec())].into());
}
