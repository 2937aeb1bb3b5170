//! Confinement alone: the calls of `wasi:filesystem` as a component could make
//! them, on real directories, without a component and without the tools.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use preopen_contract::policy::{Policy, RESERVED_PREFIX, RESERVED_SUFFIX};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    self, Descriptor, DescriptorFlags, DescriptorType, HostDescriptor as _,
    HostDirectoryEntryStream as _, NewTimestamp, OpenFlags, PathFlags,
};

use super::{Confine, Counters, Grant, View};

const READ: DescriptorFlags = DescriptorFlags::READ;
const WRITE: DescriptorFlags = DescriptorFlags::WRITE;
const MUTATE: DescriptorFlags = DescriptorFlags::MUTATE_DIRECTORY;

/// A root with one of everything, and a directory beside it.
struct World {
    base: TempDir,
    writable: bool,
}

fn temporary() -> String {
    format!("{RESERVED_PREFIX}{:032x}{RESERVED_SUFFIX}", 7)
}

impl World {
    fn new(writable: bool) -> Self {
        let world = Self {
            base: tempfile::tempdir().unwrap(),
            writable,
        };
        let (root, outside) = (world.root(), world.outside());
        fs::create_dir_all(root.join("dir/deep")).unwrap();
        fs::create_dir(root.join("empty")).unwrap();
        fs::create_dir(root.join("hidden")).unwrap();
        fs::create_dir_all(outside.join("dir")).unwrap();
        fs::write(outside.join("secret.txt"), "OUTSIDE").unwrap();
        fs::write(outside.join("dir/f.txt"), "OUTSIDE").unwrap();
        for name in [
            "f.txt",
            "dir/f.txt",
            "dir/deep/f.txt",
            "hidden/f.txt",
            "not.included",
        ] {
            fs::write(root.join(name), "inside").unwrap();
        }
        for (name, target) in [
            ("link.txt", "f.txt"),
            ("link-out.txt", "../outside/secret.txt"),
            ("link-dir.txt", "../outside/dir"),
            ("link-in.txt", "dir"),
            ("link-abs.txt", "/etc/passwd"),
            ("link-none.txt", "nothing"),
            ("link-loop.txt", "link-loop.txt"),
            ("link-proc.txt", "/proc/self/cwd"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        mknodat(
            CWD,
            root.join("pipe.txt"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        std::os::unix::net::UnixListener::bind(root.join("socket.txt")).unwrap();
        world
    }

    fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    fn outside(&self) -> PathBuf {
        self.base.path().join("outside")
    }

    fn confine(&self) -> Confine {
        let grant = Grant {
            root: Arc::new(fs::File::open(self.root()).unwrap().into()),
            policy: Policy::new(&["**/*.txt", "*/**/*.txt"], &["hidden/**"]).unwrap(),
            writable: self.writable,
        };
        Confine::new(
            Arc::new(grant),
            Arc::new(Counters::until(Instant::now() + Duration::from_secs(60))),
        )
    }

    /// Every entry under the root and beside it, with what it holds.
    fn picture(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        picture(self.base.path(), &mut seen);
        seen
    }

    /// Runs `work` as an instance would, with its root handle.
    fn enter<T>(&self, work: impl FnOnce(&mut View<'_>, u32) -> T) -> T {
        let (mut confine, mut table) = (self.confine(), ResourceTable::new());
        let mut view = View {
            confine: &mut confine,
            table: &mut table,
        };
        let root = view.get_directories().unwrap().remove(0).0.rep();
        work(&mut view, root)
    }
}

fn picture(directory: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let found = path.symlink_metadata().unwrap();
        let holds = if found.is_file() {
            fs::read_to_string(&path).unwrap()
        } else {
            String::new()
        };
        seen.insert(path.clone(), format!("{:?} {holds}", found.file_type()));
        if found.is_dir() {
            picture(&path, seen);
        }
    }
}

fn fd(rep: u32) -> Resource<Descriptor> {
    Resource::new_borrow(rep)
}

fn open(
    view: &mut View<'_>,
    base: u32,
    path: &str,
    flags: OpenFlags,
    rights: DescriptorFlags,
) -> Result<u32, ErrorCode> {
    code(view.open_at(
        fd(base),
        PathFlags::SYMLINK_FOLLOW,
        path.into(),
        flags,
        rights,
    ))
    .map(|descriptor| descriptor.rep())
}

fn code<T>(result: FsResult<T>) -> Result<T, ErrorCode> {
    result.map_err(|error| error.downcast().expect("an error code, not a trap"))
}

/// Every way to name something that must not be reached, and the error for it.
const REFUSED: &[(&str, ErrorCode)] = &[
    ("", ErrorCode::NotPermitted),
    ("/", ErrorCode::NotPermitted),
    ("/etc/passwd", ErrorCode::NotPermitted),
    ("..", ErrorCode::NotPermitted),
    ("../outside/secret.txt", ErrorCode::NotPermitted),
    ("dir/../../outside/secret.txt", ErrorCode::NotPermitted),
    ("dir/..", ErrorCode::NotPermitted),
    ("./f.txt", ErrorCode::NotPermitted),
    ("dir/./f.txt", ErrorCode::NotPermitted),
    ("f.txt/", ErrorCode::NotPermitted),
    ("dir//f.txt", ErrorCode::NotPermitted),
    ("f.txt\0x", ErrorCode::NotPermitted),
    ("dir\\f.txt", ErrorCode::NotPermitted),
    ("hidden/f.txt", ErrorCode::NotPermitted),
    ("hidden/missing.txt", ErrorCode::NotPermitted),
    ("not.included", ErrorCode::Access),
    ("missing.included", ErrorCode::Access),
    ("missing.txt", ErrorCode::NoEntry),
    ("F.TXT", ErrorCode::Access),
    ("link.txt", ErrorCode::NoEntry),
    ("link-out.txt", ErrorCode::NoEntry),
    ("link-dir.txt", ErrorCode::NoEntry),
    ("link-dir.txt/f.txt", ErrorCode::NoEntry),
    ("link-in.txt/f.txt", ErrorCode::NoEntry),
    ("link-abs.txt", ErrorCode::NoEntry),
    ("link-none.txt", ErrorCode::NoEntry),
    ("link-loop.txt", ErrorCode::NoEntry),
    ("link-proc.txt/f.txt", ErrorCode::NoEntry),
    ("pipe.txt", ErrorCode::NoEntry),
    ("socket.txt", ErrorCode::NoEntry),
];

#[test]
fn nothing_of_the_table_is_opened_read_or_described() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        for (path, expected) in REFUSED {
            for rights in [READ, WRITE, READ | WRITE] {
                let result = open(view, root, path, OpenFlags::empty(), rights);
                assert_eq!(result.err(), Some(*expected), "open {path:?} {rights:?}");
            }
            let stat = view.stat_at(fd(root), PathFlags::SYMLINK_FOLLOW, (*path).into());
            assert!(code(stat).is_err(), "stat {path:?}");
            let hash = view.metadata_hash_at(fd(root), PathFlags::SYMLINK_FOLLOW, (*path).into());
            assert!(code(hash).is_err(), "hash {path:?}");
        }
    });
    assert_eq!(world.picture(), before);
}

#[test]
fn nothing_of_the_table_is_entered_made_or_removed_as_a_directory() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        for (path, _) in REFUSED {
            let path = *path;
            assert!(
                open(view, root, path, OpenFlags::DIRECTORY, READ).is_err(),
                "enter {path:?}"
            );
            assert!(
                code(view.remove_directory_at(fd(root), path.into())).is_err(),
                "rmdir {path:?}"
            );
            // Names that are free, and where something served could come to be.
            if !path.starts_with("missing") && path != "F.TXT" {
                assert!(
                    code(view.create_directory_at(fd(root), path.into())).is_err(),
                    "mkdir {path:?}"
                );
            }
        }
    });
    assert_eq!(world.picture(), before);
}

#[test]
fn only_an_entry_that_is_served_is_unlinked_and_never_what_it_points_to() {
    let world = World::new(true);
    let outside = fs::read_to_string(world.outside().join("secret.txt")).unwrap();
    world.enter(|view, root| {
        for (path, expected) in REFUSED {
            let result = code(view.unlink_file_at(fd(root), (*path).into()));
            let an_entry = path.starts_with("link")
                || path.ends_with("pipe.txt")
                || path.ends_with("socket.txt");
            if an_entry && !path.contains('/') {
                assert_eq!(result, Ok(()), "{path:?}");
            } else {
                assert_eq!(result, Err(*expected), "{path:?}");
            }
        }
    });
    assert_eq!(
        fs::read_to_string(world.outside().join("secret.txt")).unwrap(),
        outside
    );
    assert_eq!(
        fs::read_to_string(world.outside().join("dir/f.txt")).unwrap(),
        "OUTSIDE"
    );
    assert_eq!(
        fs::read_to_string(world.root().join("f.txt")).unwrap(),
        "inside"
    );
}

#[test]
fn links_times_sizes_and_streams_are_not_to_be_had() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ | WRITE).unwrap();
        let now = || NewTimestamp::Now;
        let refused = [
            code(view.link_at(
                fd(root),
                PathFlags::empty(),
                "f.txt".into(),
                fd(root),
                "g.txt".into(),
            )),
            code(view.symlink_at(fd(root), "../outside".into(), "g.txt".into())),
            code(view.readlink_at(fd(root), "link.txt".into())).map(|_| ()),
        ];
        assert_eq!(refused, [Err(ErrorCode::NotPermitted); 3]);
        let unsupported = [
            code(view.set_size(fd(file), 0)),
            code(view.set_times(fd(file), now(), now())),
            code(view.set_times_at(fd(root), PathFlags::empty(), "f.txt".into(), now(), now())),
            code(view.read_via_stream(fd(file), 0)).map(|_| ()),
            code(view.write_via_stream(fd(file), 0)).map(|_| ()),
            code(view.append_via_stream(fd(file))).map(|_| ()),
            code(view.rename_at(fd(root), "f.txt".into(), fd(root), "g.txt".into())),
        ];
        assert_eq!(unsupported, [Err(ErrorCode::Unsupported); 7]);
    });
    assert_eq!(world.picture(), before);
}

#[test]
fn every_combination_of_flags_opens_only_what_it_says() {
    let world = World::new(true);
    let before = world.picture();
    let all_open = [
        OpenFlags::CREATE,
        OpenFlags::DIRECTORY,
        OpenFlags::EXCLUSIVE,
        OpenFlags::TRUNCATE,
    ];
    let all_rights = [
        READ,
        WRITE,
        MUTATE,
        DescriptorFlags::FILE_INTEGRITY_SYNC,
        DescriptorFlags::DATA_INTEGRITY_SYNC,
        DescriptorFlags::REQUESTED_WRITE_SYNC,
    ];
    world.enter(|view, root| {
        for open_bits in 0..1 << all_open.len() {
            for rights_bits in 0..1 << all_rights.len() {
                let pick = |bits: u32, at: usize| bits >> at & 1 == 1;
                let flags = (0..all_open.len())
                    .filter(|at| pick(open_bits, *at))
                    .fold(OpenFlags::empty(), |flags, at| flags | all_open[at]);
                let rights = (0..all_rights.len())
                    .filter(|at| pick(rights_bits, *at))
                    .fold(DescriptorFlags::empty(), |rights, at| {
                        rights | all_rights[at]
                    });
                for path in ["f.txt", "dir", "link-out.txt", "pipe.txt"] {
                    let opened = open(view, root, path, flags, rights).is_ok();
                    let expected = match path {
                        "f.txt" => {
                            flags == OpenFlags::empty()
                                && rights != DescriptorFlags::empty()
                                && (READ | WRITE).contains(rights)
                        }
                        "dir" => {
                            flags == OpenFlags::DIRECTORY
                                && rights.contains(READ)
                                && (READ | MUTATE).contains(rights)
                        }
                        _ => false,
                    };
                    assert_eq!(opened, expected, "{path} {flags:?} {rights:?}");
                }
            }
        }
    });
    assert_eq!(world.picture(), before);
}

#[test]
fn a_descriptor_does_no_more_than_it_was_opened_for() {
    let world = World::new(true);
    world.enter(|view, root| {
        let reads = open(view, root, "f.txt", OpenFlags::empty(), READ).unwrap();
        let writes = open(view, root, "f.txt", OpenFlags::empty(), WRITE).unwrap();
        assert_eq!(
            code(view.write(fd(reads), b"x".to_vec(), 0)),
            Err(ErrorCode::BadDescriptor)
        );
        assert_eq!(code(view.sync(fd(reads))), Err(ErrorCode::BadDescriptor));
        assert_eq!(
            code(view.read(fd(writes), 1, 0)),
            Err(ErrorCode::BadDescriptor)
        );
        assert_eq!(code(view.read(fd(root), 1, 0)), Err(ErrorCode::IsDirectory));
        assert_eq!(
            code(view.read_directory(fd(reads))).err(),
            Some(ErrorCode::NotDirectory)
        );
        // What was opened to read stays so for all that is opened from it.
        let directory = open(view, root, "dir", OpenFlags::DIRECTORY, READ).unwrap();
        assert_eq!(
            open(view, directory, "f.txt", OpenFlags::empty(), WRITE),
            Err(ErrorCode::ReadOnly)
        );
        assert_eq!(
            open(view, directory, "deep", OpenFlags::DIRECTORY, READ | MUTATE),
            Err(ErrorCode::ReadOnly)
        );
        assert_eq!(
            code(view.unlink_file_at(fd(directory), "f.txt".into())),
            Err(ErrorCode::ReadOnly)
        );
        // A path from a directory may not leave it, not even for the root.
        assert_eq!(
            open(view, directory, "../f.txt", OpenFlags::empty(), READ),
            Err(ErrorCode::NotPermitted)
        );
        assert_eq!(
            open(view, reads, "f.txt", OpenFlags::empty(), READ),
            Err(ErrorCode::NotDirectory)
        );
    });
}

#[test]
fn a_read_only_root_changes_nothing() {
    let world = World::new(false);
    let before = world.picture();
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        for path in ["f.txt", "new.txt", &temporary()] {
            assert_eq!(
                open(view, root, path, OpenFlags::empty(), WRITE),
                Err(ErrorCode::ReadOnly)
            );
            assert_eq!(
                open(view, root, path, exclusive, WRITE),
                Err(ErrorCode::ReadOnly)
            );
        }
        assert_eq!(
            open(view, root, "dir", OpenFlags::DIRECTORY, READ | MUTATE),
            Err(ErrorCode::ReadOnly)
        );
        let changes = [
            code(view.create_directory_at(fd(root), "new".into())),
            code(view.remove_directory_at(fd(root), "empty".into())),
            code(view.unlink_file_at(fd(root), "f.txt".into())),
            code(view.rename_at(fd(root), temporary(), fd(root), "f.txt".into())),
        ];
        assert_eq!(changes, [Err(ErrorCode::ReadOnly); 4]);
    });
    assert_eq!(world.picture(), before);
}

#[test]
fn a_listing_shows_what_is_served_and_nothing_else() {
    let world = World::new(true);
    fs::write(world.root().join(temporary()), "left over").unwrap();
    fs::write(world.root().join("back\\slash.txt"), "").unwrap();
    let not_utf8 = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff.txt");
    fs::write(world.root().join::<&std::ffi::OsStr>(not_utf8), "").unwrap();
    let listed: BTreeMap<String, DescriptorType> = world.enter(|view, root| {
        let stream = code(view.read_directory(fd(root))).unwrap().rep();
        let mut seen = BTreeMap::new();
        while let Some(entry) =
            code(view.read_directory_entry(Resource::new_borrow(stream))).unwrap()
        {
            assert!(seen.insert(entry.name, entry.type_).is_none());
        }
        seen
    });
    let mut expected = BTreeMap::from([
        ("f.txt".to_owned(), DescriptorType::RegularFile),
        ("dir".to_owned(), DescriptorType::Directory),
        ("empty".to_owned(), DescriptorType::Directory),
        ("pipe.txt".to_owned(), DescriptorType::Fifo),
        ("socket.txt".to_owned(), DescriptorType::Socket),
    ]);
    for entry in fs::read_dir(world.root()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_symlink() {
            let name = entry.file_name().into_string().unwrap();
            expected.insert(name, DescriptorType::SymbolicLink);
        }
    }
    assert_eq!(listed, expected);
}

#[test]
fn two_listings_of_one_directory_do_not_disturb_each_other() {
    let world = World::new(true);
    for number in 0..100 {
        fs::write(world.root().join(format!("dir/{number}.txt")), "").unwrap();
    }
    world.enter(|view, root| {
        let directory = open(view, root, "dir", OpenFlags::DIRECTORY, READ).unwrap();
        let streams = [0; 2].map(|_| code(view.read_directory(fd(directory))).unwrap().rep());
        let mut counts = [0; 2];
        for _ in 0..102 {
            for (stream, count) in streams.iter().zip(&mut counts) {
                let next = code(view.read_directory_entry(Resource::new_borrow(*stream)));
                *count += usize::from(next.unwrap().is_some());
            }
        }
        // A hundred, one that was there, and a directory below.
        assert_eq!(counts, [102; 2]);
    });
}

#[test]
fn a_temporary_takes_a_files_place_with_its_mode_and_is_gone() {
    let world = World::new(true);
    let target = world.root().join("f.txt");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = open(view, root, &temporary(), exclusive, WRITE).unwrap();
        assert_eq!(code(view.write(fd(file), b"new".to_vec(), 0)), Ok(3));
        code(view.sync(fd(file))).unwrap();
        // It cannot be found again by its name, only put in its place.
        assert!(open(view, root, &temporary(), OpenFlags::empty(), READ).is_err());
        for target in [
            "hidden/f.txt",
            "not.included",
            "dir",
            "link-out.txt",
            "pipe.txt",
            "../outside/f.txt",
        ] {
            let result = view.rename_at(fd(root), temporary(), fd(root), target.into());
            assert!(code(result).is_err(), "{target}");
        }
        code(view.rename_at(fd(root), temporary(), fd(root), "f.txt".into())).unwrap();
    });
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    assert_eq!(
        target.metadata().unwrap().permissions().mode() & 0o7777,
        0o640
    );
    assert!(!world.root().join(temporary()).exists());
    assert_eq!(
        fs::read_to_string(world.outside().join("secret.txt")).unwrap(),
        "OUTSIDE"
    );
}

#[test]
fn a_temporary_is_put_only_where_nothing_stands() {
    let world = World::new(true);
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = open(view, root, &temporary(), exclusive, WRITE).unwrap();
        code(view.write(fd(file), b"new".to_vec(), 0)).unwrap();
        code(view.sync(fd(file))).unwrap();
        let mut put = |to: &str| {
            let flags = PathFlags::empty();
            code(view.link_at(fd(root), flags, temporary(), fd(root), to.into()))
        };
        for taken in ["f.txt", "link.txt", "link-none.txt", "pipe.txt"] {
            assert_eq!(put(taken), Err(ErrorCode::Exist), "{taken}");
        }
        assert_eq!(put("hidden/new.txt"), Err(ErrorCode::NotPermitted));
        assert_eq!(put("new.included"), Err(ErrorCode::Access));
        assert_eq!(put("../outside/new.txt"), Err(ErrorCode::NotPermitted));
        assert_eq!(put("new.txt"), Ok(()));
    });
    let root = world.root();
    assert_eq!(fs::read_to_string(root.join("new.txt")).unwrap(), "new");
    assert_eq!(fs::read_to_string(root.join("f.txt")).unwrap(), "inside");
    assert!(!root.join(temporary()).exists());
}

#[test]
fn a_pipe_is_not_even_opened() {
    let world = World::new(true);
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let pipe = rustix::fs::open(world.root().join("pipe.txt"), flags, Mode::empty()).unwrap();
    world.enter(|view, root| {
        for rights in [WRITE, READ | WRITE] {
            let opened = open(view, root, "pipe.txt", OpenFlags::empty(), rights);
            assert_eq!(opened, Err(ErrorCode::NoEntry));
        }
    });
    // A reader is told to hang up once a writer has come and gone.
    let mut seen = [rustix::event::PollFd::new(
        &pipe,
        rustix::event::PollFlags::IN,
    )];
    let now = rustix::event::Timespec::default();
    assert_eq!(rustix::event::poll(&mut seen, Some(&now)).unwrap(), 0);
}

#[test]
fn who_replaces_files_in_a_directory_waits_for_the_one_before() {
    let world = World::new(true);
    let other = fs::File::open(world.root()).unwrap();
    let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    other.lock().unwrap();
    world.enter(|view, root| {
        // It gives up in time where the lock is never given back.
        let refused = open(view, root, &temporary(), exclusive, WRITE);
        assert_eq!(refused, Err(ErrorCode::Busy));
    });
    other.unlock().unwrap();
    world.enter(|view, root| {
        let file = open(view, root, &temporary(), exclusive, WRITE).unwrap();
        assert!(
            other.try_lock().is_err(),
            "not locked while a file is being replaced"
        );
        let file = Resource::<Descriptor>::new_own(file);
        types::HostDescriptor::drop(view, file).unwrap();
        assert!(other.try_lock().is_ok());
    });
}

#[test]
fn an_unfinished_file_goes_with_its_descriptor() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        for name in ["new.txt", &temporary()] {
            let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
            let file = open(view, root, name, exclusive, WRITE).unwrap();
            code(view.write(fd(file), b"half".to_vec(), 0)).unwrap();
        }
    });
    assert_eq!(world.picture(), before);
}

#[test]
fn a_finished_file_stays() {
    let world = World::new(true);
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = open(view, root, "dir/new.txt", exclusive, WRITE).unwrap();
        code(view.write(fd(file), b"whole".to_vec(), 0)).unwrap();
        code(view.sync(fd(file))).unwrap();
        assert_eq!(
            open(view, root, "dir/new.txt", exclusive, WRITE),
            Err(ErrorCode::Exist)
        );
    });
    let file = world.root().join("dir/new.txt");
    assert_eq!(fs::read_to_string(&file).unwrap(), "whole");
    assert_eq!(
        file.metadata().unwrap().permissions().mode() & 0o7777,
        0o600
    );
}

#[test]
fn a_file_that_changes_has_another_fingerprint() {
    let world = World::new(true);
    world.enter(|view, root| {
        let mut hash = |path: &str| {
            let hash =
                code(view.metadata_hash_at(fd(root), PathFlags::empty(), path.into())).unwrap();
            (hash.lower, hash.upper)
        };
        let first = hash("f.txt");
        assert_eq!(hash("f.txt"), first);
        assert_ne!(hash("dir/f.txt"), first);
        // The same content and the same size, but not the same file.
        fs::write(world.root().join("other"), "inside").unwrap();
        fs::rename(world.root().join("other"), world.root().join("f.txt")).unwrap();
        assert_ne!(hash("f.txt"), first);
    });
}

#[test]
fn handles_that_were_never_given_are_no_descriptors() {
    World::new(true).enter(|view, root| {
        for rep in [root + 1, 77, u32::MAX - 1] {
            assert_eq!(
                code(view.read(fd(rep), 1, 0)),
                Err(ErrorCode::BadDescriptor)
            );
            assert_eq!(
                code(view.stat(fd(rep))).err(),
                Some(ErrorCode::BadDescriptor)
            );
            assert_eq!(
                open(view, rep, "f.txt", OpenFlags::empty(), READ),
                Err(ErrorCode::BadDescriptor)
            );
        }
    });
}
