//! A client of other people's making, rmcp, over a child process: what it
//! makes of the server is the proof that the wire is understood.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, Implementation, InitializeRequestParams,
    ProtocolVersion,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceExt};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

type Client = RunningService<RoleClient, InitializeRequestParams>;

fn root() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("lib")).unwrap();
    fs::write(root.path().join("a.txt"), "alpha\n").unwrap();
    fs::write(root.path().join("lib/b.txt"), "beta alpha\n".repeat(1000)).unwrap();
    root
}

fn server(root: &TempDir) -> TokioChildProcess {
    speaking(root, "2026-07-28")
}

fn speaking(root: &TempDir, protocol: &str) -> TokioChildProcess {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command
        .arg("--root")
        .arg(root.path())
        .args(["--include", "**", "--protocol", protocol]);
    let (child, _) = TokioChildProcess::builder(command)
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    child
}

fn asking_for(version: ProtocolVersion) -> InitializeRequestParams {
    let mut params = InitializeRequestParams::new(
        ClientCapabilities::default(),
        Implementation::new("preopen-tests", "1"),
    );
    params.protocol_version = version;
    params
}

/// Runs a session with a bound, so that a server that never answers fails.
fn session<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(30), work)
            .await
            .expect("the session ends")
    })
}

async fn connect(root: &TempDir, lifecycle: ClientLifecycleMode) -> Client {
    let client = asking_for(ProtocolVersion::V_2026_07_28);
    client
        .serve_with_lifecycle(server(root), lifecycle)
        .await
        .expect("the handshake")
}

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> (bool, Value) {
    let arguments = arguments.as_object().unwrap().clone();
    let result = client
        .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
        .await
        .expect("a result");
    (
        result.is_error == Some(true),
        result.structured_content.unwrap_or_default(),
    )
}

#[test]
fn rmcp_discovers_lists_and_calls() {
    let root = root();
    session(async {
        let client = connect(&root, discover()).await;
        let names: Vec<String> = client
            .list_all_tools()
            .await
            .unwrap()
            .iter()
            .map(|tool| tool.name.to_string())
            .collect();
        assert_eq!(
            names,
            [
                "list_directory",
                "search_files",
                "search_text",
                "read_text_file",
                "write_text_file"
            ]
        );
        let (failed, listing) = call(&client, "list_directory", json!({})).await;
        assert!(!failed);
        assert_eq!(listing["items"].as_array().unwrap().len(), 2);
        let (failed, written) = call(
            &client,
            "write_text_file",
            json!({"path": "new.txt", "content": "new"}),
        )
        .await;
        assert!(!failed);
        assert_eq!(written["bytes"], 3);
        assert!(
            call(&client, "read_text_file", json!({"path": "nope.txt"}))
                .await
                .0
        );
        client.cancel().await.unwrap();
    });
    assert_eq!(fs::read(root.path().join("new.txt")).unwrap(), b"new");
}

#[test]
fn rmcp_follows_cursors_to_the_end_of_a_file() {
    let root = root();
    session(async {
        let client = connect(&root, discover()).await;
        let (mut text, mut cursor) = (String::new(), Value::Null);
        loop {
            let (failed, page) = call(
                &client,
                "read_text_file",
                json!({"path": "lib/b.txt", "limit": 1, "cursor": cursor}),
            )
            .await;
            assert!(!failed);
            text.extend(
                page["items"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|item| item["text"].as_str().unwrap()),
            );
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(text, "beta alpha\n".repeat(1000));
        client.cancel().await.unwrap();
    });
}

#[test]
fn rmcp_choosing_by_itself_finds_the_modern_era() {
    let root = root();
    session(async {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let client = connect(&root, lifecycle).await;
        assert_eq!(client.list_all_tools().await.unwrap().len(), 5);
        client.cancel().await.unwrap();
    });
}

#[test]
fn rmcp_that_initializes_is_told_the_version_in_the_message() {
    let root = root();
    session(async {
        for version in [ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25] {
            let refused = asking_for(version).serve(server(&root)).await;
            match refused {
                Err(ClientInitializeError::JsonRpcError(error)) => {
                    assert_eq!(error.code.0, -32022);
                    assert!(error.message.contains("2026-07-28"), "{}", error.message);
                }
                Err(other) => panic!("another error: {other}"),
                Ok(_) => panic!("initialized by a modern server"),
            }
        }
    });
}

/// Lists, calls, and is refused, over whatever was agreed on.
async fn works(client: &Client) {
    client.list_all_tools().await.unwrap();
    let (failed, listing) = call(client, "list_directory", json!({})).await;
    assert!(!failed, "{listing}");
    assert!(
        call(client, "read_text_file", json!({"path": "nope.txt"}))
            .await
            .0
    );
}

#[test]
fn rmcp_as_it_comes_shakes_hands_though_it_asks_for_the_modern_version() {
    let root = root();
    session(async {
        for protocol in ["legacy", "both"] {
            let client = asking_for(ProtocolVersion::V_2026_07_28);
            let client = client.serve(speaking(&root, protocol)).await;
            let client = client.expect("the handshake");
            let told = client.peer_info().expect("what the server said");
            assert_eq!(told.protocol_version, ProtocolVersion::V_2025_11_25);
            works(&client).await;
            client.cancel().await.unwrap();
        }
    });
}

#[test]
fn rmcp_gets_the_version_with_a_handshake_that_it_asks_for() {
    let root = root();
    session(async {
        for version in [
            ProtocolVersion::V_2024_11_05,
            ProtocolVersion::V_2025_03_26,
            ProtocolVersion::V_2025_06_18,
            ProtocolVersion::V_2025_11_25,
        ] {
            let client = asking_for(version.clone());
            let client = client.serve(speaking(&root, "both")).await;
            let client = client.expect("the handshake");
            let told = client.peer_info().expect("what the server said");
            assert_eq!(told.protocol_version, version);
            works(&client).await;
            client.cancel().await.unwrap();
        }
    });
}

#[test]
fn rmcp_choosing_by_itself_falls_back_on_a_handshake() {
    let root = root();
    session(async {
        for (protocol, version) in [
            ("legacy", ProtocolVersion::V_2025_11_25),
            ("both", ProtocolVersion::V_2026_07_28),
        ] {
            let lifecycle = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            };
            let client = asking_for(ProtocolVersion::V_2026_07_28);
            let client = client
                .serve_with_lifecycle(speaking(&root, protocol), lifecycle)
                .await
                .expect("one of the two");
            let told = client.peer_info().expect("what the server said");
            assert_eq!(told.protocol_version, version);
            works(&client).await;
            client.cancel().await.unwrap();
        }
    });
}

#[test]
fn rmcp_calls_side_by_side_get_their_own_answers() {
    let root = root();
    for number in 0..20 {
        fs::write(
            root.path().join(format!("f{number}")),
            format!("content {number}"),
        )
        .unwrap();
    }
    session(async {
        let client = connect(&root, discover()).await;
        let reads = (0..20).map(|number| {
            let client = &client;
            async move {
                let (failed, page) = call(
                    client,
                    "read_text_file",
                    json!({"path": format!("f{number}")}),
                )
                .await;
                assert!(!failed);
                assert_eq!(page["items"][0]["text"], format!("content {number}"));
            }
        });
        futures_join(reads).await;
        client.cancel().await.unwrap();
    });
}

/// Polls all of them until all are done.
async fn futures_join<F: Future<Output = ()>>(futures: impl Iterator<Item = F>) {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}
