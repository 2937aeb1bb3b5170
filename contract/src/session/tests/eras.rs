//! Which requests are of which era.

use serde_json::json;

use super::legacy::{canonical, code, finished, initialize, legacy, listed, session};
use super::{modern, reply};
use crate::session::Protocol;

#[test]
fn a_legacy_server_knows_no_modern_request() {
    let session = session(Protocol::Legacy);
    for _ in 0..2 {
        let discover = modern("1", "server/discover", json!({}));
        assert_eq!(code(&session, &discover), -32601);
        assert_eq!(
            code(&session, &discover.replace("2026-07-28", "1900-01-01")),
            -32601
        );
        let result = listed(&session, &modern("1", "tools/list", json!({})));
        assert!(result.get("resultType").is_none(), "{result}");
        initialize(&session, "2025-11-25");
    }
    assert_eq!(
        reply(session.receive(modern("1", "ping", json!({})).as_bytes()))["result"],
        json!({})
    );
    let answer = reply(session.receive(modern("1", "initialize", json!({})).as_bytes()));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn modern_meta_selects_the_modern_era_for_one_request() {
    let session = session(Protocol::Both);
    for version in [None, Some("2024-11-05"), Some("2025-11-25")] {
        if let Some(version) = version {
            initialize(&session, version);
        }
        let discovered =
            reply(session.receive(modern("1", "server/discover", json!({})).as_bytes()));
        assert_eq!(
            discovered["result"]["supportedVersions"],
            json!(["2026-07-28"])
        );
        let result = listed(&session, &modern("1", "tools/list", json!({})));
        assert_eq!(
            (&result["resultType"], &result["cacheScope"]),
            (&json!("complete"), &json!("public"))
        );
        assert_eq!(result["tools"].to_string(), canonical());
        let result = finished(&session, &modern("1", "tools/call", json!({"name": "t"})));
        assert_eq!(
            (&result["resultType"], &result["structuredContent"]),
            (&json!("complete"), &json!({"a": 1}))
        );
        for method in ["initialize", "ping", "resources/list", "no/such"] {
            assert_eq!(
                code(&session, &modern("1", method, json!({}))),
                -32601,
                "{method}"
            );
        }
        let other = modern("1", "tools/list", json!({})).replace("2026-07-28", "2025-11-25");
        assert_eq!(code(&session, &other), -32022);
        let legacy = listed(&session, &legacy(1, "tools/list", json!({})));
        assert!(legacy.get("resultType").is_none(), "{legacy}");
    }
}

#[test]
fn half_of_modern_meta_is_told_the_other_half() {
    let session = session(Protocol::Both);
    for (meta, named) in [
        (
            json!({"io.modelcontextprotocol/clientCapabilities": {}}),
            "protocolVersion",
        ),
        (
            json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}),
            "clientCapabilities",
        ),
        (
            json!({"io.modelcontextprotocol/protocolVersion": 7}),
            "protocolVersion",
        ),
    ] {
        let line = legacy(1, "tools/list", json!({"_meta": meta}));
        let error = reply(session.receive(line.as_bytes()))["error"].clone();
        assert_eq!(error["code"], -32602, "{meta}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains(named)),
            "{error}"
        );
    }
    assert_eq!(
        code(&session, &legacy(1, "server/discover", json!({}))),
        -32602
    );
}
