//! The JSON of one item of a page, written as it is measured: the same bytes
//! as `preopen_contract::json` gives, for the two types that items have, and
//! what they cost once more inside a string. It knows no page and no tool.

use preopen_contract::json;

/// A member's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(u64),
}

/// The members of an item, in order. Names hold nothing that JSON escapes.
pub(crate) type Members<'a> = [(&'static str, Value<'a>)];

/// Appends an item. The answer is how many of its bytes are quotes and backslashes: each takes a
/// second byte where the item stands inside a JSON string.
pub(crate) fn append(out: &mut String, members: &Members<'_>) -> usize {
    let mut doubled = 0;
    let mut before = '{';
    for (name, value) in members {
        out.push(before);
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        doubled += 2;
        match value {
            Value::Text(text) => doubled += json::quote(out, text),
            Value::Number(number) => decimal(out, *number),
        }
        before = ',';
    }
    out.push('}');
    doubled
}

fn decimal(out: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[first..].iter().copied().map(char::from));
}

#[cfg(test)]
mod tests {
    use preopen_contract::json;
    use proptest::prelude::*;
    use serde::Serialize;

    use super::{Value, append};

    #[derive(Serialize)]
    struct Item<'a> {
        path: &'a str,
        line: u64,
        text: &'a str,
    }

    fn check(path: &str, line: u64, text: &str) {
        let mut out = "before".to_owned();
        let members = [
            ("path", Value::Text(path)),
            ("line", Value::Number(line)),
            ("text", Value::Text(text)),
        ];
        let doubled = append(&mut out, &members);
        let item = &out["before".len()..];
        assert_eq!(item, json::text(&Item { path, line, text }));
        assert_eq!(item.len() + doubled, json::quoted_len(item));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_bytes_are_those_of_the_contract(
            path in "[a-z/\\\\\"]{0,40}",
            line: u64,
            text in "(?s:[a-z \n\"\\\\\u{0}-\u{1f}\u{7f}€\u{2027}-\u{202a}🙂é]|.){0,80}",
        ) {
            check(&path, line, &text);
        }
    }

    #[test]
    fn every_character_near_the_special_ones() {
        for character in ('\0'..='\u{ff}').chain('\u{1fff}'..='\u{2100}') {
            for before in [0, 1, 14, 15, 16, 17, 31, 32] {
                let text = format!("{}{character}x", "a".repeat(before));
                check(&text, 0, &text.repeat(3));
            }
        }
        for number in [0, 9, 10, 99, 100, u64::MAX] {
            check("", number, "");
        }
    }
}
