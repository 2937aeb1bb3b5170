//! The files that are measured on: the same bytes in every run, in a directory
//! that goes with the value. It knows what is in them and nobody who reads them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Entries of [`Corpus::LISTED`], all files, and of [`Corpus::MIXED`], a third
/// of them directories with one file each.
pub(crate) const LISTED_ENTRIES: usize = 24;
/// Files below [`Corpus::MANY`], and their bytes in all.
pub(crate) const MANY_FILES: usize = 2_000;
pub(crate) const MANY_BYTES: usize = 64 << 20;
/// What stands in [`NEEDLES`] lines below [`Corpus::MANY`], and nowhere else.
pub(crate) const NEEDLE: &str = "Zyzzogeton_haematus";
pub(crate) const NEEDLES: usize = 7;
/// What stands in two lines of every second of those files and in three of the others.
pub(crate) const COMMON: &str = "quokka";
pub(crate) const COMMONS: usize = MANY_FILES / 2 * 5;
/// Bytes of [`Corpus::SMALL`] and of [`Corpus::LARGE`].
pub(crate) const SMALL_BYTES: usize = 1 << 10;
pub(crate) const LARGE_BYTES: usize = 64 << 20;
/// Files of [`Corpus::tree`], and directories with as many files each.
pub(crate) const TREE_FILES: usize = 100_000;
pub(crate) const TREE_DIRECTORIES: usize = 1_000;
/// Stands in the path of every file of a tree.
pub(crate) const TREE_PART: &str = "file-";

const DIRECTORIES: usize = 20;
const WORDS: [&str; 16] = [
    "the",
    "capability",
    "of",
    "directory",
    "a",
    "descriptor",
    "to",
    "component",
    "grants",
    "nothing",
    "else",
    "and",
    "policy",
    "is",
    "asked",
    "first",
];

/// Roots to serve, filled, and a place beside them.
pub(crate) struct Corpus(TempDir);

impl Corpus {
    /// A directory of [`LISTED_ENTRIES`] files.
    pub(crate) const LISTED: &'static str = "listed";
    /// A directory of [`LISTED_ENTRIES`] files and directories.
    pub(crate) const MIXED: &'static str = "mixed";
    /// Directories that hold [`MANY_FILES`] files.
    pub(crate) const MANY: &'static str = "many";
    /// A small file.
    pub(crate) const SMALL: &'static str = "small.txt";
    /// A large one.
    pub(crate) const LARGE: &'static str = "large.txt";

    /// Builds it below `place`.
    pub(crate) fn build(place: &Path) -> io::Result<Self> {
        let corpus = Self(TempDir::new_in(place)?);
        let root = corpus.root();
        fs::create_dir_all(&root)?;
        fs::create_dir(corpus.beside())?;
        let mut words = Words::new();
        fs::write(root.join(Self::SMALL), words.text(SMALL_BYTES))?;
        fs::write(root.join(Self::LARGE), words.text(LARGE_BYTES))?;
        listed(&root.join(Self::LISTED), usize::MAX, &mut words)?;
        listed(&root.join(Self::MIXED), 3, &mut words)?;
        many(&root.join(Self::MANY), &mut words)?;
        tree(&corpus.tree(), TREE_FILES, TREE_FILES / TREE_DIRECTORIES)?;
        Ok(corpus)
    }

    /// What all the roots lie in.
    pub(crate) fn above(&self) -> PathBuf {
        self.0.path().join("served")
    }

    /// A root with all that has a name above.
    pub(crate) fn root(&self) -> PathBuf {
        self.above().join("root")
    }

    /// A root of [`TREE_DIRECTORIES`] directories.
    pub(crate) fn tree(&self) -> PathBuf {
        self.above().join("tree")
    }

    /// A directory on the same file system that is not served.
    pub(crate) fn beside(&self) -> PathBuf {
        self.0.path().join("beside")
    }
}

/// Entries of which each `nth`, from the first, is a directory with one file.
fn listed(listed: &Path, nth: usize, words: &mut Words) -> io::Result<()> {
    fs::create_dir(listed)?;
    for number in 0..LISTED_ENTRIES {
        let entry = listed.join(format!("entry-{number:02}"));
        if nth < LISTED_ENTRIES && number % nth == 0 {
            fs::create_dir(&entry)?;
            fs::write(entry.join("inside.txt"), words.text(SMALL_BYTES))?;
        } else {
            fs::write(entry.with_extension("txt"), words.text(SMALL_BYTES))?;
        }
    }
    Ok(())
}

fn many(many: &Path, words: &mut Words) -> io::Result<()> {
    let mut left = MANY_BYTES;
    for number in 0..MANY_FILES {
        let directory = many.join(format!("part-{:02}", number % DIRECTORIES));
        fs::create_dir_all(&directory)?;
        // Sizes differ by up to a half around the mean; the last file makes up the sum.
        let mean = left / (MANY_FILES - number);
        let size = match number + 1 {
            MANY_FILES => left,
            _ => mean / 2 + words.below(mean),
        };
        left -= size;
        let mut text = words.text(size);
        commons(&mut text, 2 + number % 2);
        if number % (MANY_FILES / NEEDLES) == 1 && number < MANY_FILES - NEEDLES {
            text[size / 2..][..NEEDLE.len()].copy_from_slice(NEEDLE.as_bytes());
        }
        fs::write(directory.join(format!("file-{number:04}.txt")), text)?;
    }
    Ok(())
}

/// Puts [`COMMON`] into so many lines, none of them in the middle.
fn commons(text: &mut [u8], lines: usize) {
    for line in 0..lines {
        let place = text.len() * (2 * line + 1) / (2 * lines) + 256;
        text[place..][..COMMON.len()].copy_from_slice(COMMON.as_bytes());
    }
}

/// `files` empty files below `root`, in directories of `in_each`.
pub(crate) fn tree(root: &Path, files: usize, in_each: usize) -> io::Result<()> {
    fs::create_dir_all(root)?;
    for first in (0..files).step_by(in_each) {
        let directory = root.join(format!("directory-{:05}", first / in_each));
        fs::create_dir(&directory)?;
        for number in first..files.min(first + in_each) {
            File::create(directory.join(format!("{TREE_PART}{number:07}.txt")))?;
        }
    }
    Ok(())
}

/// Files of some 32 KiB of text each below `root`, `bytes` in all, a hundred in a
/// directory, with [`COMMON`] in two lines of each; how many such lines there are.
pub(crate) fn texts(root: &Path, bytes: usize) -> io::Result<usize> {
    const EACH: usize = 32 << 10;
    let mut words = Words::new();
    for number in 0..bytes / EACH {
        let directory = root.join(format!("directory-{:03}", number / 100));
        fs::create_dir_all(&directory)?;
        let mut text = words.text(EACH);
        commons(&mut text, 2);
        fs::write(directory.join(format!("file-{number:05}.txt")), text)?;
    }
    Ok(bytes / EACH * 2)
}

/// One file of `bytes` of text.
pub(crate) fn text(file: &Path, bytes: usize) -> io::Result<()> {
    fs::write(file, Words::new().text(bytes))
}

/// Lines of words from a sequence of numbers that is always the same (xorshift64).
struct Words(u64);

impl Words {
    const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 32) as usize % bound.max(1)
    }

    /// Exactly `bytes` of text; a line has some sixty.
    fn text(&mut self, bytes: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes + 32);
        let mut words = 0;
        while text.len() < bytes {
            text.extend_from_slice(WORDS[self.below(WORDS.len())].as_bytes());
            words += 1;
            text.push(if words % 10 == 0 { b'\n' } else { b' ' });
        }
        text.truncate(bytes);
        text
    }
}
