use super::*;

// Whoever was told that nothing was sent may send it again: a program that reads again later must not find it in the queue.
#[tokio::test]
async fn what_was_given_up_before_it_was_written_is_never_written() {
    let (ours, mut theirs) = tokio::io::duplex(1024);
    let (queue, outbound) = mpsc::channel(QUEUE);
    let (given_up, waits) = (Arc::new(Life::default()), Arc::new(Life::default()));
    for (text, life) in [("given up", &given_up), ("waits", &waits)] {
        let outbound = Outbound { text: text.to_owned(), life: Some(Arc::clone(life)) };
        queue.send(outbound).await.unwrap_or_else(|_| panic!("the queue is open"));
    }
    assert!(given_up.gives_up());
    drop(queue);
    write(Box::new(ours), outbound, CancellationToken::new()).await;
    let mut written = String::new();
    theirs.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "waits\n");
    assert!(!waits.gives_up(), "it may have arrived");
}
