//! The files that are measured on: the same bytes in every run, in a directory
//! that goes with the value. It knows what is in them and nobody who reads them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Entries of [`Corpus::LISTED`], files and directories together.
pub(crate) const LISTED_ENTRIES: usize = 24;
/// Entries of [`Corpus::SHORT`], all files.
pub(crate) const SHORT_ENTRIES: usize = 5;
/// Files below [`Corpus::MANY`], and their bytes in all.
pub(crate) const MANY_FILES: usize = 2_000;
pub(crate) const MANY_BYTES: usize = 64 << 20;
/// What stands in [`NEEDLES`] lines below [`Corpus::MANY`], and nowhere else.
pub(crate) const NEEDLE: &str = "Zyzzogeton_haematus";
pub(crate) const NEEDLES: usize = 7;
/// Bytes of [`Corpus::SMALL`] and of [`Corpus::LARGE`].
pub(crate) const SMALL_BYTES: usize = 1 << 10;
pub(crate) const LARGE_BYTES: usize = 64 << 20;

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

/// A root to serve, filled, and a place beside it.
pub(crate) struct Corpus {
    above: TempDir,
    /// Every file below [`Corpus::MANY`].
    pub(crate) many: Vec<PathBuf>,
}

impl Corpus {
    /// A directory of [`LISTED_ENTRIES`] entries.
    pub(crate) const LISTED: &'static str = "listed";
    /// A directory of [`SHORT_ENTRIES`] files.
    pub(crate) const SHORT: &'static str = "short";
    /// Directories that hold [`MANY_FILES`] files.
    pub(crate) const MANY: &'static str = "many";
    /// A small file.
    pub(crate) const SMALL: &'static str = "small.txt";
    /// A large one.
    pub(crate) const LARGE: &'static str = "large.txt";

    /// Builds it below `place`.
    pub(crate) fn build(place: &Path) -> io::Result<Self> {
        let above = TempDir::new_in(place)?;
        let mut corpus = Self {
            above,
            many: Vec::with_capacity(MANY_FILES),
        };
        fs::create_dir(corpus.root())?;
        fs::create_dir(corpus.beside())?;
        let mut words = Words(0x9e37_79b9_7f4a_7c15);
        fs::write(corpus.root().join(Self::SMALL), words.text(SMALL_BYTES))?;
        fs::write(corpus.root().join(Self::LARGE), words.text(LARGE_BYTES))?;
        corpus.listed(&mut words)?;
        corpus.many(&mut words)?;
        Ok(corpus)
    }

    /// What is served.
    pub(crate) fn root(&self) -> PathBuf {
        self.above.path().join("root")
    }

    /// A directory on the same file system that is not served.
    pub(crate) fn beside(&self) -> PathBuf {
        self.above.path().join("beside")
    }

    /// A third directories, each with one file, the rest files.
    fn listed(&self, words: &mut Words) -> io::Result<()> {
        let listed = self.root().join(Self::LISTED);
        fs::create_dir(&listed)?;
        for number in 0..LISTED_ENTRIES {
            let entry = listed.join(format!("entry-{number:02}"));
            if number % 3 == 0 {
                fs::create_dir(&entry)?;
                fs::write(entry.join("inside.txt"), words.text(SMALL_BYTES))?;
            } else {
                fs::write(entry.with_extension("txt"), words.text(SMALL_BYTES))?;
            }
        }
        let short = self.root().join(Self::SHORT);
        fs::create_dir(&short)?;
        for number in 0..SHORT_ENTRIES {
            fs::write(
                short.join(format!("entry-{number}.txt")),
                words.text(SMALL_BYTES),
            )?;
        }
        Ok(())
    }

    fn many(&mut self, words: &mut Words) -> io::Result<()> {
        let many = self.root().join(Self::MANY);
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
            if number % (MANY_FILES / NEEDLES) == 1 && number < MANY_FILES - NEEDLES {
                text[size / 2..][..NEEDLE.len()].copy_from_slice(NEEDLE.as_bytes());
            }
            let file = directory.join(format!("file-{number:04}.txt"));
            fs::write(&file, text)?;
            self.many.push(file);
        }
        Ok(())
    }
}

/// Lines of words from a sequence of numbers that is always the same (xorshift64).
struct Words(u64);

impl Words {
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
