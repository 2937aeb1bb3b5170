//! What the test itself does among the paths that the client alone changes,
//! between two windows of calls: it plants links, pipes and hidden files, which
//! no tool makes and which decide what the tools may do, and writes to a file.

use std::fs;

use super::adversary;
use super::generator::Generator;
use super::model::{HIDDEN_CONTENT, Model, OWN, is_hidden};
use crate::harness::{Root, make_pipe};

/// The most hidden files at a time: nothing above one can be removed.
const HIDDEN: usize = 4;

/// The first paths, on the disk and in the model.
pub(super) fn lay_out(root: &Root) -> Model {
    let mut model = Model::default();
    for directory in ["a/a", "b é/c", "c"] {
        let path = format!("{OWN}/{directory}");
        fs::create_dir_all(root.at(&path)).expect("a directory");
        model.make(&path);
    }
    for (file, content) in [("f0.txt", "quiet word1\n"), ("a/f1.md", "quiet word2\n")] {
        let path = format!("{OWN}/{file}");
        root.write(&path, content);
        model.write(&path, content.as_bytes());
    }
    for directory in ["a", "c"] {
        let path = format!("{OWN}/{directory}/pipe");
        make_pipe(&root.at(&path));
        model.put_special(&path);
    }
    model
}

/// Plants or writes something, or removes something hidden. No call is under way.
pub(super) fn tend(generator: &mut Generator, root: &Root) {
    let Generator {
        random,
        model,
        contents,
        ..
    } = generator;
    let files: Vec<&str> = model.files("").map(|(path, _)| path).collect();
    if random.percent(30) && !files.is_empty() {
        let path = (*random.pick(&files)).to_owned();
        let content = contents.text(random);
        root.write(&path, &content);
        return model.write(&path, content.as_bytes());
    }
    let hidden: Vec<String> = model
        .paths()
        .filter(|path| is_hidden(path))
        .map(str::to_owned)
        .collect();
    if hidden.len() >= HIDDEN || (random.percent(30) && !hidden.is_empty()) {
        let path = random.pick(&hidden);
        fs::remove_file(root.at(path)).expect("a hidden file");
        model.remove(path);
        return;
    }
    let directories: Vec<&str> = model.directories("").collect();
    let directory = (*random.pick(&directories)).to_owned();
    let name = random.below(3);
    match random.percent(50) {
        true => {
            let path = format!("{directory}/hid-{name}");
            fs::write(root.at(&path), HIDDEN_CONTENT).expect("a hidden file");
            model.hide(&path);
        }
        false => {
            let path = format!("{directory}/link-{name}");
            if !model.holds(&path) {
                adversary::link(root, &path);
                model.put_special(&path);
            }
        }
    }
}
