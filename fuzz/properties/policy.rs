//! The policy against its model in `globs`, and what must hold of any policy.
//! The input is text: `+` before an include pattern, `-` before an exclude
//! pattern, and a path on every other line.

use preopen_contract::path::is_canonical;
use preopen_contract::policy::{Policy, Rule, Verdict};

use super::globs::Model;
use super::path;

/// Reads the lines of `data` and checks them.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (mut include, mut exclude, mut paths) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.split('\n') {
        if let Some(pattern) = line.strip_prefix('+') {
            include.push(pattern.to_owned());
        } else if let Some(pattern) = line.strip_prefix('-') {
            exclude.push(pattern.to_owned());
        } else {
            path::check(line);
            paths.push(line.to_owned());
        }
    }
    path::check(text);
    agrees(&include, &exclude, &paths);
}

/// The policy of these patterns says of these paths what its model does.
pub(crate) fn agrees(include: &[String], exclude: &[String], paths: &[String]) {
    let policy = Policy::new(include, exclude).ok();
    let model = Model::new(include, exclude);
    assert_eq!(policy.is_some(), model.is_some(), "well-formed");
    let Some((policy, model)) = policy.zip(model) else {
        return;
    };
    assert_eq!(policy.directory(""), model.directory(&[]), "the root");
    for path in paths.iter().filter(|path| is_canonical(path)) {
        let names: Vec<_> = path.split('/').collect();
        let (verdict, decided) = model.file(&names);
        assert_eq!(policy.file(path), verdict, "file {path}");
        assert_eq!(
            policy.directory(path),
            model.directory(&names),
            "directory {path}"
        );
        let rule = match (verdict, decided) {
            (Verdict::Served, Some(at)) => include.get(at).map(|text| Rule::Include(text)),
            (Verdict::Excluded, Some(at)) => exclude.get(at).map(|text| Rule::Exclude(text)),
            (Verdict::Excluded, None) => Some(Rule::Reserved),
            _ => None,
        };
        assert_eq!(policy.explain(path), (verdict, rule), "rule for {path}");
        if verdict == Verdict::Served {
            served(&policy, path);
        }
    }
}

/// Every directory above a served file is served.
fn served(policy: &Policy, path: &str) {
    let above = path.match_indices('/').map(|(end, _)| &path[..end]);
    for directory in above.chain([""]) {
        let verdict = policy.directory(directory);
        assert_eq!(verdict, Verdict::Served, "{directory:?} above {path}");
    }
    assert!(path.contains('/') || policy.reaches_top_level(), "{path}");
}
