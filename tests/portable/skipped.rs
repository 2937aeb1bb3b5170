//! Which end-to-end tests do not hold for the component on its own, and why:
//! they are about the native host, or about what only that can do.
//! docs/portability.md tells of every reason.

/// A reason, and the tests it is for: a name, or a module with `::` behind it.
pub(crate) const SKIPPED: &[(&str, &[&str])] =
    &[("the tests of the component itself", &["portable::"])];

/// Those of `names` that are skipped.
///
/// # Panics
/// When something that is skipped is not among them.
pub(crate) fn among<'a>(names: &'a [String]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for skipped in SKIPPED.iter().flat_map(|(_, tests)| *tests) {
        let before = found.len();
        found.extend(names.iter().map(String::as_str).filter(
            |name| match skipped.ends_with("::") {
                true => name.starts_with(skipped),
                false => name == skipped,
            },
        ));
        assert!(found.len() > before, "there is no test {skipped} to skip");
    }
    found
}
