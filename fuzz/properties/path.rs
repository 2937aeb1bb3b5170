//! The path contract a second time, from what is written about it: split, look
//! at every name, join.

use preopen_contract::path::{MAX_PATH_BYTES, RelPath, is_canonical, is_segment};

/// The canonical form of a path as a client spells it, if it has one.
fn canonical(text: &str) -> Option<String> {
    if matches!(text, "" | "." | "./" | "/") {
        return Some(String::new());
    }
    let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
    let whole = names.join("/");
    let drive = whole
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic())
        && whole.chars().nth(1) == Some(':');
    let is_name = |name: &&str| *name != "." && *name != ".." && !name.contains(['\0', '\\']);
    let fits = whole.len() <= MAX_PATH_BYTES;
    (!text.starts_with('/') && !drive && fits && names.iter().all(is_name)).then_some(whole)
}

/// Both readings of `text` agree, and what is read stays as it is.
pub(crate) fn check(text: &str) {
    let read = RelPath::parse(text).ok();
    let expected = canonical(text);
    assert_eq!(read.as_ref().map(RelPath::as_str), expected.as_deref());
    let is_own_form = !text.is_empty() && expected.as_deref() == Some(text);
    assert_eq!(is_canonical(text), is_own_form, "{text:?}");
    let is_one_name =
        !text.is_empty() && !matches!(text, "." | "..") && !text.contains(['/', '\\', '\0']);
    assert_eq!(is_segment(text), is_one_name, "{text:?}");

    let Some(path) = read else { return };
    assert_eq!(RelPath::parse(path.as_str()).as_ref(), Ok(&path));
    let names: Vec<&str> = path.segments().collect();
    assert!(names.iter().all(|name| is_segment(name)));
    assert_eq!(names.join("/"), path.as_str());
    assert_eq!(names.last().copied(), path.name());
    assert_eq!(path.is_root(), names.is_empty());
    assert_eq!(path.to_string(), path.as_str());
}
