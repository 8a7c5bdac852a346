//! Which era a server speaks.

use std::time::Duration;

use serde_json::json;

use super::peer::{Act, Peer, fail, initialized, legacy, modern, options, reply};
use crate::client::{ClientError, Options};
use crate::wire::{Era, Version};

#[tokio::test]
async fn a_modern_server_is_asked_once_and_never_shakes_hands() {
    let peer = modern(|_| Vec::new());
    let connection = peer.open(options()).await.unwrap();
    assert_eq!(connection.server().version, Version::V2026_07_28);
    let asked = peer.sent("server/discover");
    let meta = &asked[0]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "test");
    assert_eq!(peer.log.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn any_other_error_means_the_older_era() {
    for code in [-32601, -32602, -32600, -32000] {
        let peer = Peer::new(move |message| match message["method"].as_str() {
            Some("server/discover") => vec![fail(message, code, "what?")],
            Some("initialize") => vec![reply(message, &initialized("2025-06-18"))],
            _ => Vec::new(),
        });
        let connection = peer.open(options()).await.unwrap();
        assert_eq!(connection.server().version, Version::V2025_06_18, "{code}");
        assert_eq!(*peer.starts.lock().unwrap(), 1);
        let asked = peer.sent("initialize");
        // dcc-mcp-core#2432: `initialize` never negotiates 2026-07-28
        assert_eq!(asked[0]["params"]["protocolVersion"], "2025-11-25");
        peer.until_sent(|message| message["method"] == "notifications/initialized").await;
    }
}

// VoidNullable/lific#57: the probe ends an old server
#[tokio::test]
async fn a_server_that_ends_over_the_question_is_started_again() {
    let peer = Peer::new(|message| match message["method"].as_str() {
        Some("server/discover") => vec![Act::Exit],
        Some("initialize") => vec![reply(message, &initialized("2025-03-26"))],
        _ => Vec::new(),
    });
    let connection = peer.open(options()).await.unwrap();
    assert_eq!(connection.server().version, Version::V2025_03_26);
    assert_eq!(*peer.starts.lock().unwrap(), 2);
    // Nobody had the first one, so nobody lost it.
    assert_eq!(peer.heard.shown(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn silence_means_the_older_era() {
    let peer = Peer::new(|message| match message["method"].as_str() {
        Some("initialize") => vec![reply(message, &initialized("2025-11-25"))],
        _ => Vec::new(),
    });
    let connection = peer.open(options()).await.unwrap();
    assert_eq!(connection.server().version, Version::V2025_11_25);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_at_all_is_given_up() {
    let peer = Peer::new(|_| Vec::new());
    let error = peer.open(options()).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_refused_version_is_asked_again_where_the_server_names_ours() {
    let peer = Peer::new({
        let count = std::sync::atomic::AtomicUsize::new(0);
        move |message| {
            if count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) > 0 {
                let result = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
                return vec![reply(message, &result)];
            }
            let error = json!({ "code": -32022, "message": "no", "data": { "supported": ["2026-07-28"] } });
            vec![super::peer::line(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))]
        }
    });
    assert_eq!(peer.open(options()).await.unwrap().server().version, Version::V2026_07_28);
    assert_eq!(peer.sent("server/discover").len(), 2);
}

#[tokio::test]
async fn the_versions_are_the_proof_and_not_the_answer() {
    let peer = Peer::new(|message| match message["method"].as_str() {
        Some("server/discover") => {
            vec![reply(message, &json!({ "supportedVersions": ["2025-06-18", "2025-11-25"], "capabilities": {} }))]
        }
        Some("initialize") => vec![reply(message, &initialized("2025-11-25"))],
        _ => Vec::new(),
    });
    assert_eq!(peer.open(options()).await.unwrap().server().version, Version::V2025_11_25);
}

// mcp_agent_mail_rust#321: versions in between are negotiated; what is not spoken is said
#[tokio::test]
async fn a_version_that_nobody_here_speaks_is_an_error_that_names_it() {
    for (version, shown) in [("2027-01-01", "`2027-01-01`"), ("2026-07-28", "`2026-07-28`"), ("", "``")] {
        let peer = Peer::new(move |message| match message["method"].as_str() {
            Some("server/discover") => vec![fail(message, -32601, "no")],
            Some("initialize") => vec![reply(message, &initialized(version))],
            _ => Vec::new(),
        });
        let error = peer.open(options()).await.unwrap_err().to_string();
        assert!(error.contains(shown), "{error}");
        assert_eq!(peer.sent("notifications/initialized").len(), 0);
    }
    let peer = Peer::new(|message| vec![reply(message, &json!({ "supportedVersions": ["2031-01-01"] }))]);
    let error = peer.open(options()).await.unwrap_err().to_string();
    assert!(error.contains("2031-01-01"), "{error}");
}

#[tokio::test]
async fn only_the_era_that_is_configured_is_spoken() {
    let peer = legacy(|_| Vec::new());
    peer.open(Options { era: Some(Era::Legacy), ..options() }).await.unwrap();
    assert_eq!(peer.sent("server/discover").len(), 0);
    let peer = legacy(|_| Vec::new());
    let error = peer.open(Options { era: Some(Era::Modern), ..options() }).await.unwrap_err();
    assert_eq!(error.to_string(), "the server's answer cannot be used: it does not speak MCP 2026-07-28");
    assert_eq!(peer.sent("initialize").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_late_changes_nothing() {
    let peer = Peer::new(|message| match message["method"].as_str() {
        Some("initialize") => {
            // The answer to the question comes with the handshake's.
            let late = json!({ "jsonrpc": "2.0", "id": 1, "result": { "supportedVersions": ["2026-07-28"] } });
            vec![super::peer::line(&late), reply(message, &initialized("2025-11-25"))]
        }
        _ => Vec::new(),
    });
    let connection = peer.open(Options { probe: Duration::from_secs(1), ..options() }).await.unwrap();
    assert_eq!(connection.server().version, Version::V2025_11_25);
    assert_eq!(peer.heard.shown().len(), 1, "{:?}", peer.heard.shown());
}
