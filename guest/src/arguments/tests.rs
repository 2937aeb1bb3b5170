//! What is taken for an argument, and what is refused by name.

use super::{Arguments, MAX_LIST, MAX_QUERY_BYTES};
use crate::refusal::Refusal;

const KNOWN: &[&str] = &["path", "query", "limit", "force"];

fn parse(text: &str) -> Result<Arguments, Refusal> {
    Arguments::parse(text.to_owned(), KNOWN)
}

fn limit(value: &str) -> Result<usize, Refusal> {
    parse(&format!("{{\"limit\":{value}}}"))?.limit(200)
}

#[test]
fn null_is_absent() {
    let arguments = parse(r#"{"path":null,"limit":null}"#).expect("valid");
    assert_eq!(arguments.string("path"), Ok(None));
    assert_eq!(arguments.limit(8), Ok(8));
    assert!(arguments.path().expect("the root").is_root());
    assert_eq!(arguments.file_path(), Err(Refusal::Required("path")));
}

#[test]
fn integers_in_every_spelling() {
    for (text, expected) in [
        ("1", 1),
        ("5.0", 5),
        ("\"5\"", 5),
        ("200", 200),
        ("201", 200),
        ("1e300", 200),
        ("18446744073709551615", 200),
        ("\"99999999999999999999999\"", 200),
    ] {
        assert_eq!(limit(text), Ok(expected), "{text}");
    }
    for text in ["0", "-1", "-1e300", "\"0\"", "\"-99999999999999999999999\""] {
        assert_eq!(limit(text), Err(Refusal::LimitBelowOne), "{text}");
    }
    for text in [
        "1.5", "\"\"", "\"-\"", "\"5.0\"", "\" 5\"", "\"+5\"", "true", "[]", "{}",
    ] {
        assert_eq!(limit(text), Err(Refusal::NotAnInteger("limit")), "{text}");
    }
}

#[test]
fn what_can_destroy_takes_a_json_boolean_alone() {
    let force = |value: &str| {
        parse(&format!("{{\"force\":{value}}}"))
            .expect("valid")
            .strict_boolean("force")
    };
    for (value, expected) in [("true", true), ("false", false), ("null", false)] {
        assert_eq!(force(value), Ok(expected));
    }
    for value in ["\"true\"", "\"\"", "1", "0", "1.5", "[true]", "{}"] {
        assert_eq!(force(value), Err(Refusal::NotABoolean("force")), "{value}");
    }
}

#[test]
fn a_harmless_boolean_may_be_a_string() {
    let path = |value: &str| {
        parse(&format!("{{\"path\":{value}}}"))
            .expect("valid")
            .boolean("path", true)
    };
    for (value, expected) in [
        ("true", true),
        ("false", false),
        ("\"true\"", true),
        ("\"false\"", false),
        ("null", true),
    ] {
        assert_eq!(path(value), Ok(expected), "{value}");
    }
    for value in ["\"\"", "\"True\"", "0", "[]", "{}"] {
        assert_eq!(path(value), Err(Refusal::NotABoolean("path")), "{value}");
    }
}

#[test]
fn a_clamped_integer_is_the_nearest_in_its_range() {
    let clamped = |value: &str| {
        parse(&format!("{{\"limit\":{value}}}"))
            .expect("valid")
            .clamped("limit", 3, 1..=50)
    };
    for (value, expected) in [
        ("null", 3),
        ("0", 1),
        ("-5", 1),
        ("\"7\"", 7),
        ("50", 50),
        ("1099511627776", 50),
        ("-1e300", 1),
    ] {
        assert_eq!(clamped(value), Ok(expected), "{value}");
    }
    assert_eq!(clamped("1.5"), Err(Refusal::NotAnInteger("limit")));
}

#[test]
fn a_list_holds_strings_alone() {
    let strings = |value: &str| {
        let arguments = parse(&format!("{{\"path\":{value}}}")).expect("valid");
        let strings = arguments.strings("path");
        strings.map(|list| list.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let most = format!("[{}\"x\"]", "\"x\",".repeat(MAX_LIST - 1));
    assert_eq!(strings("null"), Ok(vec![]));
    assert_eq!(strings("[]"), Ok(vec![]));
    assert_eq!(strings("\"a\""), Ok(vec!["a".to_owned()]));
    assert_eq!(
        strings(r#"["a","b"]"#),
        Ok(vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(strings(&most).map(|list| list.len()), Ok(MAX_LIST));
    let longer = most.replacen('[', "[\"x\",", 1);
    for value in ["1", "{}", "[1]", r#"["a",null]"#, r#"[["a"]]"#, &longer] {
        assert_eq!(strings(value), Err(Refusal::NotAList("path")), "{value}");
    }
}

#[test]
fn other_types_are_refused_by_name() {
    let arguments = parse(r#"{"path":1,"query":[]}"#).expect("valid");
    assert_eq!(arguments.path(), Err(Refusal::NotAString("path")));
    assert_eq!(arguments.query("query"), Err(Refusal::NotAString("query")));
}

#[test]
fn unknown_and_repeated_names_are_refused() {
    assert_eq!(
        parse(r#"{"pth":1}"#).expect_err("unknown").to_string(),
        "unknown argument `pth`; this tool takes path, query, limit, force"
    );
    assert_eq!(
        parse(r#"{"path":"a","limit":1,"path":"a"}"#),
        Err(Refusal::Duplicate("path"))
    );
    let long = parse(&format!("{{\"{}\":1}}", "é".repeat(100_000))).expect_err("unknown");
    assert!(long.to_string().len() < 300);
}

#[test]
fn what_is_no_json_says_so() {
    let deep = format!("{{\"path\":{}", "[".repeat(100_000));
    for text in [
        "",
        "{",
        r#"{"path":"\ud800"}"#,
        r#"{"limit":1e999}"#,
        "{} {}",
        &deep,
    ] {
        let refusal = parse(text).expect_err("no JSON");
        assert!(
            refusal
                .to_string()
                .starts_with("arguments are not valid JSON: "),
            "{refusal}"
        );
    }
    for text in ["[]", "1", "null", "\"x\""] {
        assert_eq!(parse(text), Err(Refusal::NotAnObject), "{text}");
    }
}

#[test]
fn a_query_is_one_line_of_bounded_length() {
    let query = |query: &str| {
        let text = serde_json::json!({ "query": query }).to_string();
        parse(&text)?.query("query").map(str::to_owned)
    };
    let longest = "é".repeat(MAX_QUERY_BYTES / 2);
    for good in ["x", "a\rb", "\t", longest.as_str()] {
        assert_eq!(query(good), Ok(good.to_owned()));
    }
    for bad in ["", "\n", "a\nb", &format!("{longest}x")] {
        assert_eq!(query(bad), Err(Refusal::Query("query")));
    }
}

/// Longer than what is read like any other text.
fn long(end: &str) -> String {
    format!("{}{end}", r"0123456789abcde\n".repeat(1000))
}

#[test]
fn a_long_text_is_what_it_says() {
    for (text, members) in [
        (long(""), r#"{"path":"LONG"}"#),
        (
            long(r"\ud83d\ude42é\u0000"),
            r#"{"query":"a\n","path":"LONG"}"#,
        ),
        (long(r#"\"\\"#), r#"{ "path" : "LONG" , "limit" : "5" } "#),
        (long(""), r#"{"path":"LONG","query":null}"#),
    ] {
        let members = members.replace("LONG", &text);
        let expected: serde_json::Value = serde_json::from_str(&members).expect("valid");
        let arguments = parse(&members).expect("valid");
        assert_eq!(arguments.string("path"), Ok(expected["path"].as_str()));
        assert_eq!(arguments.string("query"), Ok(expected["query"].as_str()));
        let content = arguments.content("path").map(<[u8]>::to_vec);
        assert_eq!(
            content.as_deref().ok(),
            expected["path"].as_str().map(str::as_bytes)
        );
        assert_eq!(
            arguments.strings("path"),
            Ok(vec![expected["path"].as_str().expect("text")])
        );
        assert_eq!(
            arguments.strict_boolean("path"),
            Err(Refusal::NotABoolean("path"))
        );
        assert!(arguments.limit(5).is_ok());
    }
}

#[test]
fn content_is_text_that_must_be_there() {
    let arguments = parse(r#"{"path":"é","query":1}"#).expect("valid");
    assert_eq!(arguments.content("path"), Ok("é".as_bytes()));
    assert_eq!(
        arguments.content("query"),
        Err(Refusal::NotAString("query"))
    );
    assert_eq!(arguments.content("limit"), Err(Refusal::Required("limit")));
}

#[test]
fn a_long_number_is_the_nearest_that_fits() {
    let digits = "9".repeat(10_000);
    assert_eq!(limit(&format!("\"{digits}\"")), Ok(200));
    assert_eq!(
        limit(&format!("\"-{digits}\"")),
        Err(Refusal::LimitBelowOne)
    );
    assert_eq!(
        limit(&format!("\"{digits}.\"")),
        Err(Refusal::NotAnInteger("limit"))
    );
}

#[test]
fn beside_a_long_text_the_same_is_refused() {
    let text = long("");
    for members in [
        r#"{"path":"LONG","pth":1}"#,
        r#"{"pth":"LONG"}"#,
        r#"{"path":"LONG","path":"a"}"#,
        r#"{"path":"a","path":"LONG"}"#,
        r#"{"path":"LONG","limit":1e999}"#,
        r#"{"path":"LONG\ud800"}"#,
        r#"{"path":"LONG\x"}"#,
        r#"{"path":"LONG}"#,
        r#"{"path":"LONG"} {}"#,
        r#"{"path":["LONG"],"limit":{"a":"LONG"}}"#,
    ] {
        let whole = members.replace("LONG", &text);
        let short = parse(&members.replace("LONG", ""));
        match (parse(&whole), short) {
            (Ok(_), Ok(arguments)) => {
                assert_eq!(arguments.limit(1), Err(Refusal::NotAnInteger("limit")))
            }
            // It says where, so it was the whole that was read.
            (Err(Refusal::NotJson(said)), Err(Refusal::NotJson(_))) if members.contains(r"\x") => {
                // No host of ours hands this on.
                assert_eq!(said, "invalid escape in a string");
            }
            (Err(Refusal::NotJson(said)), Err(Refusal::NotJson(_))) => {
                let read = serde_json::from_str::<serde_json::Value>(&whole);
                let place = read
                    .map_err(|error| format!("at line {} column {}", error.line(), error.column()));
                assert!(said.ends_with(&place.expect_err("no JSON")), "{said}");
            }
            (whole, short) => assert_eq!(whole, short, "{members}"),
        }
    }
}
