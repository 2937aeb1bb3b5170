//! Generated sessions: lines that are almost right, and then broken.

use preopen_contract::session::PROTOCOL_VERSION;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::message;

/// The beginning and the end of a member, and values that may stand in it.
type Member = (&'static str, &'static [&'static str]);

const IDS: &[&str] = &[
    "1",
    "\"1\"",
    "\"\\u0031\"",
    "-0",
    "2",
    "10000000000000000000000000001",
    "1.0",
    "1e3",
    "null",
    "{}",
    "\"\"",
    "\"\\ud800\"",
    "\"\u{2028}\\n\"",
];
const METHODS: &[&str] = &[
    "\"tools/call\"",
    "\"tools/call\"",
    "\"tools/call\"",
    "\"tools/list\"",
    "\"server/discover\"",
    "\"initialize\"",
    "\"ping\"",
    "\"prompts/list\"",
    "\"notifications/cancelled\"",
    "\"notifications/cancelled\"",
    "\"x\"",
    "7",
    "\"tools\\u002fcall\"",
];
const ENVELOPE: &[Member] = &[
    ("\"result\"", &["{}", "null"]),
    ("\"error\"", &["{}"]),
    ("\"id\"", IDS),
    ("\"\\u0069d\"", IDS),
    ("\"x\"", &["[[[]]]", "\"\\udc00\""]),
    ("\"\\udc00\"", &["1"]),
];
const PARAMS: &[Member] = &[
    ("\"name\"", &["\"t\"", "\"\\u0000\"", "7", "\"\\ud800\""]),
    (
        "\"arguments\"",
        &[
            "{}",
            "null",
            "[]",
            "{\"a\":{\"a\":1e999}}",
            " { \"\\ud800\" : 1 }",
        ],
    ),
    ("\"cursor\"", &["null", "\"\""]),
    ("\"requestId\"", IDS),
    ("\"protocolVersion\"", &["\"2025-11-25\"", "7"]),
    ("\"\\ud800\"", &["1"]),
];
const META: &[Member] = &[
    ("\"progressToken\"", IDS),
    (
        "\"io.modelcontextprotocol/clientCapabilities\"",
        &["{}", "null"],
    ),
    (
        "\"io.modelcontextprotocol/protocolVersion\"",
        &["\"1900-01-01\"", "7"],
    ),
];

fn members(from: &'static [Member]) -> impl Strategy<Value = String> {
    let member = select(from).prop_flat_map(|(name, values)| {
        select(values).prop_map(move |value| format!(",{name}:{value}"))
    });
    prop::collection::vec(member, 0..3).prop_map(|all| all.concat())
}

/// An id, often one that others have, too.
fn id() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => select(&["1", "2", "\"1\""][..]), 2 => select(IDS)]
}

fn request() -> impl Strategy<Value = String> {
    let modern = members(META).prop_map(|rest| {
        format!(
            "\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"{PROTOCOL_VERSION}\",\
             \"io.modelcontextprotocol/clientCapabilities\":{{}}{rest}}},"
        )
    });
    let other = select(&["", "\"_meta\":{},", "\"_meta\":null,", "\"_meta\":7,"][..]);
    let meta =
        prop_oneof![5 => modern, 4 => Just(String::new()), 1 => other.prop_map(str::to_owned)];
    let params = (meta, members(PARAMS), any::<bool>()).prop_map(|(meta, rest, named)| {
        let name = if named { "\"name\":\"t\"" } else { "\"x\":1" };
        format!(",\"params\":{{{meta}{name}{rest}}}")
    });
    let params = prop_oneof![
        12 => params,
        1 => select(&["", ",\"params\":null", ",\"params\":[]"][..]).prop_map(str::to_owned),
    ];
    let id = prop_oneof![
        7 => id().prop_map(|id| format!(",\"id\":{id}")),
        2 => Just(String::new()),
    ];
    let rest = prop_oneof![4 => Just(String::new()), 1 => members(ENVELOPE)];
    (id, select(METHODS), params, rest).prop_map(|(id, method, params, rest)| {
        format!("{{\"jsonrpc\":\"2.0\"{id},\"method\":{method}{params}{rest}}}")
    })
}

fn handshake() -> impl Strategy<Value = String> {
    let versions = [
        "2024-11-05",
        "2025-03-26",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "1",
    ];
    (id(), select(versions.to_vec())).prop_map(|(id, version)| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{version}\"}}}}")
    })
}

fn batch() -> impl Strategy<Value = String> {
    let message = prop_oneof![
        8 => request(),
        2 => cancellation(),
        1 => handshake(),
        1 => select(&["[]", "7", "{}", "{\"id\":1,\"result\":{}}", "[{}]"][..]).prop_map(str::to_owned),
    ];
    prop::collection::vec(message, 0..5).prop_map(|messages| format!(" [{}]", messages.join(", ")))
}

fn cancellation() -> impl Strategy<Value = String> {
    id().prop_map(|id| {
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}")
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop_oneof![
        8 => request(),
        4 => batch(),
        2 => handshake(),
        2 => cancellation(),
        3 => select(&["\u{1}", "\u{2}u\u{2028}", "\u{3}", "\u{1}i", "\u{1}r\r"][..]).prop_map(str::to_owned),
        1 => ".{0,20}",
        1 => select(&["", " \t", "[]", "7", "{}", "\u{feff}{}", "{\"id\":1}", "{\"id\":1,\"method\":1}"][..])
            .prop_map(str::to_owned),
    ];
    let hit = prop::option::weighted(0.2, (any::<Index>(), any::<u8>()));
    (whole, hit).prop_map(|(whole, hit)| {
        let mut bytes = whole.into_bytes();
        if let (Some((at, byte)), false) = (hit, bytes.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_is_answered_as_it_must_be_and_once(
        first in prop::option::weighted(0.6, handshake()),
        lines in prop::collection::vec(line(), 1..12),
    ) {
        let first = first.map(String::into_bytes);
        let lines: Vec<_> = first.into_iter().chain(lines).collect();
        message::check(&lines.join(&b'\n'));
    }

    #[test]
    fn no_bytes_end_a_session(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        message::check(&bytes);
    }
}
