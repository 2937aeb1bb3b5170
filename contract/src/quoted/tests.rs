//! Compared with serde_json, whatever the text is.

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::brief::{LONG, STRINGS};
use super::{Brief, end, end_of_plain, escaped, unescaped};

/// What strings are made of: plain, escaped, wrong, and what looks like it.
const PIECES: [&str; 28] = [
    "a",
    "plain text of some length, ",
    "é",
    "\u{2028}",
    "🙂",
    "\\n",
    "\\\"",
    "\\\\",
    "\\/",
    "\\b",
    "\\f",
    "\\r",
    "\\t",
    "\\u0041",
    "\\u00e9",
    "\\u0000",
    "\\ud83d\\ude42",
    "\\uD83D\\uDE42",
    "\\uffff",
    "\\ud800",
    "\\udc00",
    "\\ud800\\u0041",
    "\\u12",
    "\\x",
    "\n",
    "\u{1f}",
    "\u{0}",
    "\"",
];

/// The first so many pieces are right.
const RIGHT: usize = 19;

/// Content of a string, of a length around that of blocks or a multiple of it.
fn content(pieces: usize) -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES[..pieces].to_vec());
    (0_usize..140, prop::collection::vec(piece, 0..90))
        .prop_map(|(before, pieces)| format!("{}{}", "x".repeat(before), pieces.concat()))
}

/// What serde_json makes of the string that `text` begins with at `at`, and
/// where it ends.
fn expected(text: &[u8], at: usize) -> Option<(String, usize)> {
    let mut values =
        serde_json::Deserializer::from_slice(text.get(at - 1..)?).into_iter::<String>();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset() - 2))
}

fn found(text: &[u8], at: usize) -> Option<(String, usize)> {
    let (end, plain) = (end(text, at), end_of_plain(text, at));
    match (end, plain) {
        (Some(end), Some(_)) => assert_eq!(plain, Some(end)),
        (Some(_), None) => assert!(text[at..].windows(2).any(|two| two == b"\\u")),
        // What it has not looked at is found later.
        (None, Some(plain)) => assert_eq!(unescaped(text.to_vec(), at..plain), None),
        (None, None) => {}
    }
    let end = end?;
    let said = unescaped(text.to_vec(), at..end).expect("what has an end can be said");
    Some((String::from_utf8(said).expect("it is of UTF-8"), end))
}

#[test]
fn an_escape_at_every_place_of_a_block() {
    for before in 0..200 {
        for escape in PIECES {
            for after in ["", "tail", "\\n\\ud83d\\ude42", "\\"] {
                for close in ["\"", "\"}", ""] {
                    let text = format!("\"{}{escape}{after}{close}", "x".repeat(before));
                    let text = text.as_bytes();
                    assert_eq!(found(text, 1), expected(text, 1), "{}", text.escape_ascii());
                }
            }
        }
    }
}

#[test]
fn every_letter_behind_a_backslash() {
    for letter in 0..=u8::MAX {
        let text = [b"\"", &[b'\\', letter][..], b"0041\""].concat();
        assert_eq!(found(&text, 1), expected(&text, 1), "{letter}");
        let text = [b"\"\\u00", &[letter, b'0'][..], b"\""].concat();
        assert_eq!(found(&text, 1), expected(&text, 1), "{letter}");
    }
}

#[test]
fn what_is_no_content_is_not_said() {
    for (text, content) in [
        (r"\", 0..1),
        (r"\n", 0..1),
        (r"\u0041", 0..5),
        (r"\ud83d\ude42", 0..6),
        ("abc", 1..4),
        ("abc", 4..4),
    ] {
        assert_eq!(
            unescaped(text.into(), content.clone()),
            None,
            "{text} {content:?}"
        );
    }
    #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
    let reversed = 2..1;
    assert_eq!(unescaped("abc".into(), reversed), None);
}

/// What is read of a text; a member that is there twice is an error.
#[derive(Debug, serde::Deserialize)]
struct Read<'a> {
    #[serde(borrow, default)]
    a: Option<&'a RawValue>,
    #[serde(borrow, default)]
    b: Option<&'a RawValue>,
}

/// What is read of it, and the kind of its error.
fn read(text: &str) -> Result<Read<'_>, (bool, bool)> {
    serde_json::from_str(text).map_err(|error| (error.is_data(), error.is_eof()))
}

/// A brief is read as the whole would be; whether it is one.
fn check(whole: &str) -> bool {
    if let Ok(whole) = serde_json::from_str::<&RawValue>(whole) {
        let (brief, json) = (Brief::of(whole.get()), Brief::of_json(whole.get()));
        if !whole.get().contains(r"\u") {
            assert_eq!(json.text(), brief.text());
        }
        assert_eq!(json.whole(json.text()), whole.get());
    }
    let brief = Brief::of(whole);
    let of = |part: Option<&RawValue>| part.map(|part| brief.whole(part.get()).to_owned());
    let texts = |read: Read<'_>| (of(read.a), of(read.b));
    assert_eq!(read(brief.text()).map(texts), read(whole).map(texts));
    assert_eq!(brief.whole(brief.text()), whole);
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    assert_eq!(is_json(brief.text()), is_json(whole));
    if let Ok(Read { a: Some(part), .. }) = read(brief.text())
        && let Some(content) = brief.content(part.get())
    {
        let said = unescaped(whole.into(), content).and_then(|said| String::from_utf8(said).ok());
        assert_eq!(
            said,
            serde_json::from_str::<String>(brief.whole(part.get())).ok()
        );
    }
    assert_eq!(brief.is_shorter(), brief.text().len() < whole.len());
    brief.is_shorter()
}

#[test]
fn one_long_value_is_left_out() {
    let long = "x".repeat(LONG);
    for (text, is_shorter) in [
        (format!(r#"{{"a":"{long}","b":1}}"#), true),
        (
            format!(r#"{{"a": {{"c" :{}"{long}"}},"b":"b"}}"#, " \t\r\n"),
            true,
        ),
        (format!(r#"{{"a":"{long}","b":"{long}"}}"#), true),
        (format!(r#"{{"b":"{long}","a":"\n"}}"#), true),
        (format!(r#"{{"a":"{long}","a":1}}"#), true),
        // Errors behind it, before it and around it stay what they are.
        (format!(r#"{{"a":"{long}",}}"#), true),
        (format!(r#"{{"a":"{long}""#), true),
        (format!(r#"{{"a":tru,"b":"{long}"}}"#), true),
        (format!(r#":"{long}""#), true),
        (format!(r#"{{"a":"{}"}}"#, &long[1..]), false),
        (format!(r#"{{"{long}":1,"{long}":2}}"#), false),
        (format!(r#"{{"a":["{long}"]}}"#), false),
        (format!(r#""{long}""#), false),
        (format!(r#"{{"a":"{long}\ud800"}}"#), false),
        (format!(r#"{{"a":"{long}"#), false),
        (format!(r#"{{"\x":1,"a":"{long}"}}"#), false),
        (long, false),
    ] {
        assert_eq!(
            check(&text),
            is_shorter,
            "{}",
            text.replace(&"x".repeat(LONG - 1), "…")
        );
    }
}

#[test]
fn the_search_for_a_long_value_is_bounded() {
    let long = "x".repeat(LONG);
    for (before, is_shorter) in [(STRINGS - 2, true), (STRINGS - 1, false)] {
        let text = format!(r#"{{"b":[{}0],"a":"{long}"}}"#, r#""","#.repeat(before - 1));
        assert_eq!(check(&text), is_shorter);
    }
}

#[test]
fn what_is_no_part_of_a_brief_stays_what_it_is() {
    let whole = format!(r#"{{"a":"{}"}}"#, "x".repeat(LONG));
    let brief = Brief::of(&whole);
    let other = r#""""#.to_owned();
    assert_eq!(brief.whole(&other), other);
    assert_eq!(brief.content(&other), None);
    assert_eq!(brief.content(brief.text()), None);
}

proptest! {
    #[test]
    fn a_string_ends_and_says_what_serde_json_finds(
        before in prop::sample::select(vec!["\"", "{\"content\":\"", "a long way to the string: \""]),
        content in content(PIECES.len()),
        after in prop::sample::select(vec!["", "\"", "\"}", "\"}                 "]),
    ) {
        let text = format!("{before}{content}{after}");
        let text = text.as_bytes();
        prop_assert_eq!(found(text, before.len()), expected(text, before.len()));
    }

    #[test]
    fn every_other_backslash_of_a_row_escapes(
        rows in prop::collection::vec((0_usize..70, 0_usize..70), 1..4),
        first in any::<bool>(),
    ) {
        let mut bits: Vec<bool> = Vec::new();
        for (others, backslashes) in rows {
            bits.extend(vec![false; others]);
            bits.extend(vec![true; backslashes]);
        }
        bits.resize(bits.len().next_multiple_of(64).max(64), false);
        let mut is_escaped = first;
        let mut carried = u64::from(first);
        for block in bits.chunks(64) {
            let number = |bits: &[bool]| bits.iter().rev().fold(0_u64, |all, bit| all << 1 | u64::from(*bit));
            let expected: Vec<bool> = block.iter().map(|backslash| {
                let was = is_escaped;
                is_escaped = *backslash && !was;
                was
            }).collect();
            prop_assert_eq!(escaped(number(block), &mut carried), number(&expected));
            prop_assert_eq!(carried, u64::from(is_escaped));
        }
    }

    #[test]
    fn bytes_that_are_no_text_change_nothing(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        bytes.insert(0, b'"');
        if let Some(end) = end(&bytes, 1) {
            let said = unescaped(bytes.clone(), 1..end).expect("what has an end can be said");
            // Lossy on both sides: what is no UTF-8 is copied.
            let lossy = String::from_utf8_lossy(&bytes[..=end]).into_owned();
            let expected: String = serde_json::from_str(&lossy).expect("a string");
            prop_assert_eq!(String::from_utf8_lossy(&said), expected);
        }
    }

    #[test]
    fn a_brief_is_read_as_the_whole(
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "\\u0061", "\\ud800"]), 0..4),
        contents in prop::collection::vec(content(RIGHT), 4),
        broken in content(PIECES.len()),
        long in any::<prop::sample::Index>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let long = long.index(names.len() + 1);
        let members: Vec<String> = names.iter().enumerate().map(|(at, name)| match at == long {
            true => format!("\"{name}\": \"{}{broken}\"", contents[0].repeat(1 + LONG / (1 + contents[0].len()))),
            false => format!("\"{name}\":{{\"c\":\"{}\"}}", contents[at]),
        }).collect();
        let mut text = format!("{{{}}}", members.join(","));
        if let Some(cut) = cut {
            let at = cut.index(text.len());
            text = text.char_indices().filter(|(place, _)| *place != at).map(|(_, c)| c).collect();
        }
        check(&text);
    }
}
