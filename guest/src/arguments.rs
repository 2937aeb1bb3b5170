//! The arguments of a call: tolerant where that is harmless (null is absent,
//! `"5"` and `5.0` are 5), strict everywhere else. An argument that is given
//! twice, unknown or of another type is refused by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use preopen_contract::path::RelPath;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::refusal::Refusal;

/// The longest query, in bytes.
pub(crate) const MAX_QUERY_BYTES: usize = 256;
/// How much of an unknown argument's name its refusal repeats, in characters.
const SHOWN_NAME: usize = 64;

/// The arguments by name; null ones are left out.
#[derive(Debug, PartialEq)]
pub(crate) struct Arguments(BTreeMap<String, Value>);

impl Arguments {
    /// Reads the text of a JSON object whose members are among `known`.
    pub(crate) fn parse(text: &str, known: &[&str]) -> Result<Self, Refusal> {
        let Object { members, duplicate } = serde_json::from_str(text).map_err(|error| {
            if error.is_data() {
                Refusal::NotAnObject
            } else {
                Refusal::NotJson(error.to_string())
            }
        })?;
        if let Some(name) = duplicate {
            return Err(Refusal::Duplicate(shortened(&name)));
        }
        if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Refusal::Unknown {
                name: shortened(name),
                known: known.join(", "),
            });
        }
        let mut members = members;
        members.retain(|_, value| !value.is_null());
        Ok(Self(members))
    }

    /// A string that may be absent.
    pub(crate) fn string(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::NotAString(name)),
        }
    }

    /// A string that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, Refusal> {
        self.string(name)?.ok_or(Refusal::Required(name))
    }

    /// `query`: one line of 1 to [`MAX_QUERY_BYTES`].
    pub(crate) fn query(&self) -> Result<&str, Refusal> {
        let query = self.required("query")?;
        if query.is_empty() || query.len() > MAX_QUERY_BYTES || query.contains('\n') {
            return Err(Refusal::Query);
        }
        Ok(query)
    }

    /// `path`; absent, it is the root.
    pub(crate) fn path(&self) -> Result<RelPath, Refusal> {
        Ok(RelPath::parse(self.string("path")?.unwrap_or_default())?)
    }

    /// `path` where a file is asked for: it must be there.
    pub(crate) fn file_path(&self) -> Result<RelPath, Refusal> {
        Ok(RelPath::parse(self.required("path")?)?)
    }

    /// `limit`: clamped to `maximum`, which is also its default.
    pub(crate) fn limit(&self, maximum: usize) -> Result<usize, Refusal> {
        let Some(value) = self.0.get("limit") else {
            return Ok(maximum);
        };
        let limit = integer(value).ok_or(Refusal::NotAnInteger("limit"))?;
        if limit < 1 {
            return Err(Refusal::LimitBelowOne);
        }
        Ok(usize::try_from(limit).map_or(maximum, |limit| limit.min(maximum)))
    }
}

/// An integer as models send it; one too large for an i64 is the nearest that fits.
fn integer(value: &Value) -> Option<i64> {
    let saturated = |negative| if negative { i64::MIN } else { i64::MAX };
    match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_u64().map(|_| i64::MAX))
            // A cast from a float saturates.
            .or_else(|| {
                number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0)
                    .map(|float| float as i64)
            }),
        Value::String(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
                return None;
            }
            Some(text.parse().unwrap_or(saturated(text.starts_with('-'))))
        }
        _ => None,
    }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(SHOWN_NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

/// A JSON object that remembers the first name it saw twice.
struct Object {
    members: BTreeMap<String, Value>,
    duplicate: Option<String>,
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = BTreeMap::new();
                let mut duplicate = None;
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    match members.entry(name) {
                        Entry::Vacant(vacant) => {
                            vacant.insert(value);
                        }
                        Entry::Occupied(occupied) => {
                            duplicate.get_or_insert_with(|| occupied.key().clone());
                        }
                    }
                }
                Ok(Object { members, duplicate })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, MAX_QUERY_BYTES};
    use crate::refusal::Refusal;

    const KNOWN: &[&str] = &["path", "query", "limit"];

    fn parse(text: &str) -> Result<Arguments, Refusal> {
        Arguments::parse(text, KNOWN)
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
    fn other_types_are_refused_by_name() {
        let arguments = parse(r#"{"path":1,"query":[]}"#).expect("valid");
        assert_eq!(arguments.path(), Err(Refusal::NotAString("path")));
        assert_eq!(arguments.query(), Err(Refusal::NotAString("query")));
    }

    #[test]
    fn unknown_and_repeated_names_are_refused() {
        assert_eq!(
            parse(r#"{"pth":1}"#).expect_err("unknown").to_string(),
            "unknown argument `pth`; this tool takes path, query, limit"
        );
        assert_eq!(
            parse(r#"{"path":"a","limit":1,"path":"a"}"#),
            Err(Refusal::Duplicate("path".to_owned()))
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
            parse(&text)?.query().map(str::to_owned)
        };
        let longest = "é".repeat(MAX_QUERY_BYTES / 2);
        for good in ["x", "a\rb", "\t", longest.as_str()] {
            assert_eq!(query(good), Ok(good.to_owned()));
        }
        for bad in ["", "\n", "a\nb", &format!("{longest}x")] {
            assert_eq!(query(bad), Err(Refusal::Query));
        }
    }
}
