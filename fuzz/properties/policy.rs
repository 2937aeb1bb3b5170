//! The policy against its model in `globs`, and what must hold of any policy.
//! The input is text: `+` before an include pattern, `-` before an exclude
//! pattern, `!` alone for what workspaces do not serve, and a path on every other line.

use preopen_contract::path::is_canonical;
use preopen_contract::policy::{Policy, Rule, Verdict};

use super::globs::{Decided, Model};
use super::path;

/// Reads the lines of `data` and checks them.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let mut rules = Rules::default();
    let mut paths = Vec::new();
    for line in text.split('\n') {
        if line == "!" {
            rules.blocks = true;
        } else if let Some(pattern) = line.strip_prefix('+') {
            rules.include.push(pattern.to_owned());
        } else if let Some(pattern) = line.strip_prefix('-') {
            rules.exclude.push(pattern.to_owned());
        } else {
            path::check(line);
            paths.push(line.to_owned());
        }
    }
    path::check(text);
    rules.agree(&paths);
}

/// What an operator chose.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) blocks: bool,
}

impl Rules {
    /// The policy of these rules says of these paths what its model does.
    pub(crate) fn agree(&self, paths: &[String]) {
        let Self {
            include,
            exclude,
            blocks,
        } = self;
        let policy = Policy::new(include, exclude).ok();
        let policy = policy.map(|policy| if *blocks { policy.blocking() } else { policy });
        let model = Model::new(include, exclude, *blocks);
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
            let (told, rule) = policy.explain(path);
            let rule = match rule {
                None => Decided::Nothing,
                Some(Rule::Reserved) => Decided::Reserved,
                Some(Rule::Blocked(name)) => Decided::Blocked(name.to_owned()),
                Some(Rule::Include(text)) => Decided::Include(place(include, text)),
                Some(Rule::Exclude(text)) => Decided::Exclude(place(exclude, text)),
            };
            assert_eq!((told, rule), (verdict, decided), "rule for {path}");
            if verdict == Verdict::Served {
                served(&policy, path);
            }
        }
    }
}

fn place(list: &[String], text: &str) -> usize {
    let place = list.iter().position(|pattern| pattern == text);
    place.expect("a pattern that was given")
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
