//! Makes up calls of the tools that change the part of the root which the client
//! alone changes.

use serde_json::json;

use super::changing::{self, IfHash};
use super::content::base64;
use super::generator::{Generator, Step, Wanted};
use super::model::Place;

impl Generator {
    fn condition(&mut self, path: &str) -> IfHash {
        match (self.random.below(10), self.model.place(path)) {
            (0, _) => IfHash::Absent,
            (1, _) => IfHash::Of(b"something else".to_vec()),
            (2..5, Place::File(file)) => IfHash::Of(file.content.to_vec()),
            _ => IfHash::None,
        }
    }

    /// A tool that changes the part which the client alone changes.
    pub(super) fn change(&mut self) -> Step {
        let choice = self.random.below(100);
        let path = match choice {
            0..25 => (*self.random.pick(&[
                "own-0.txt",
                "own-1.txt",
                "own-2.txt",
                "own-3.txt",
                "own-4.txt",
                "own-5.txt",
                "hid-1",
                "hosts",
            ]))
            .to_owned(),
            25..55 if self.random.percent(60) => self.file(),
            55..65 if self.random.percent(60) => self.directory(),
            25..55 | 80.. => self.path(Wanted::File),
            _ => self.path(Wanted::Directory),
        };
        let if_hash = self.condition(&path);
        let (tool, arguments, expected) = match choice {
            0..25 => {
                let content = self.contents.text(&mut self.random);
                let arguments =
                    json!({"path": path, "content": content, "if_hash": if_hash.argument()});
                (
                    "write_text_file",
                    arguments,
                    changing::write_text_file(&mut self.model, &path, &content, &if_hash),
                )
            }
            25..55 => {
                let binary = self.random.percent(30);
                let content = match binary {
                    true => self.contents.bytes(&mut self.random),
                    false => self.contents.text(&mut self.random).into_bytes(),
                };
                let sent = match binary {
                    true => base64(&content),
                    false => String::from_utf8_lossy(&content).into_owned(),
                };
                let arguments = json!({"path": self.spelled(&path), "content": sent, "binary": binary, "if_hash": if_hash.argument()});
                (
                    "write_file",
                    arguments,
                    changing::write_file(&mut self.model, &path, &content, &if_hash),
                )
            }
            55..65 => {
                let arguments = json!({"path": self.spelled(&path)});
                (
                    "create_directory",
                    arguments,
                    changing::create_directory(&mut self.model, &path),
                )
            }
            65..80 => {
                let force = self.random.percent(50);
                let arguments = json!({"path": self.spelled(&path), "force": force});
                (
                    "delete_directory",
                    arguments,
                    changing::delete_directory(&mut self.model, &path, force),
                )
            }
            _ => {
                let arguments = json!({"path": self.spelled(&path), "if_hash": if_hash.argument()});
                (
                    "delete_file",
                    arguments,
                    changing::delete_file(&mut self.model, &path, &if_hash),
                )
            }
        };
        let mut step = self.step(tool, arguments, expected);
        step.may_be_cancelled = false;
        step
    }
}
