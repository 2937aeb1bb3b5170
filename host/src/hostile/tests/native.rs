//! Should the WebAssembly sandbox itself fail, machine code of the attacker's
//! runs in the process: what it could try, and which of the kernel's layers
//! stops it. Each row is tried with both, with each alone, and with none.

use std::fs;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
use rustix::fs::inotify;

use super::layers::is_safe_here;
use crate::confine::WATCH_GROUP;
use crate::hostile::World;
use crate::layer::Layer::{self, Calls, Files};
use crate::lockdown::{self, Threads};

/// Something machine code could try.
pub(super) struct Native {
    /// In words.
    pub(super) what: &'static str,
    /// The layers that stop it, each by itself.
    pub(super) by: &'static [Layer],
    run: fn(&Scene<'_>) -> io::Result<()>,
}

/// What is there to be reached.
struct Scene<'a> {
    root: &'a Path,
    outside: &'a Path,
    /// A process that was there before.
    other: &'a Child,
}

pub(super) const NATIVE: &[Native] = &[
    Native {
        what: "read a file outside the root",
        by: &[Files],
        run: |scene| fs::read(scene.outside.join("secret.txt")).map(drop),
    },
    Native {
        what: "list a directory outside the root",
        by: &[Files],
        run: |scene| fs::read_dir(scene.outside).map(drop),
    },
    Native {
        what: "follow a link out of the root",
        by: &[Files],
        run: |scene| fs::read(scene.root.join("link-out.txt")).map(drop),
    },
    Native {
        what: "write to a file outside the root",
        by: &[Files],
        run: |scene| fs::write(scene.outside.join("secret.txt"), "HOSTILE"),
    },
    Native {
        what: "make a file outside the root",
        by: &[Files],
        run: |scene| fs::write(scene.outside.join("new.txt"), ""),
    },
    Native {
        what: "remove a file outside the root",
        by: &[Files],
        run: |scene| fs::remove_file(scene.outside.join("secret.txt")),
    },
    Native {
        what: "move a file out of the root",
        by: &[Files],
        run: |scene| fs::rename(scene.root.join("f.txt"), scene.outside.join("new.txt")),
    },
    Native {
        what: "make a link in the root",
        by: &[Files],
        run: |scene| std::os::unix::fs::symlink("/etc/passwd", scene.root.join("new.txt")),
    },
    Native {
        what: "read the process's own memory map",
        by: &[Files],
        run: |_| fs::read("/proc/self/maps").map(drop),
    },
    Native {
        what: "change the mode of a file outside the root",
        by: &[Calls],
        run: |scene| {
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(scene.outside.join("secret.txt"), mode)
        },
    },
    Native {
        what: "watch a directory outside the root",
        by: &[Calls],
        run: |scene| {
            let watches = inotify::init(inotify::CreateFlags::empty())?;
            inotify::add_watch(&watches, scene.outside, inotify::WatchFlags::CREATE)?;
            Ok(())
        },
    },
    Native {
        what: "watch a directory outside the root by its path, in another way",
        by: &[Calls],
        run: |scene| watch(scene.root, Some(scene.outside), MarkFlags::empty()),
    },
    Native {
        what: "watch the whole file system that the root is on",
        by: &[Calls],
        run: |scene| watch(scene.root, None, MarkFlags::FAN_MARK_FILESYSTEM),
    },
    Native {
        what: "run a program",
        by: &[Files, Calls],
        run: |_| Command::new("/bin/true").status().map(drop),
    },
    Native {
        what: "serve a TCP port",
        by: &[Files, Calls],
        run: |_| TcpListener::bind("127.0.0.1:0").map(drop),
    },
    Native {
        what: "make a UDP socket",
        by: &[Calls],
        run: |_| UdpSocket::bind("127.0.0.1:0").map(drop),
    },
    Native {
        what: "make a pair of sockets",
        by: &[Calls],
        run: |_| UnixStream::pair().map(drop),
    },
    Native {
        what: "get into another process",
        by: &[Files, Calls],
        run: |scene| {
            let other = nix::unistd::Pid::from_raw(i32::try_from(scene.other.id()).unwrap());
            nix::sys::ptrace::attach(other).map_err(io::Error::from)
        },
    },
    Native {
        what: "make memory that can be executed",
        by: &[Calls],
        run: |_| memmap2::MmapMut::map_anon(4096)?.make_exec().map(drop),
    },
];

/// Watches what is at `path`, or without one the directory `from` or all that `of` says.
fn watch(from: &Path, path: Option<&Path>, of: MarkFlags) -> io::Result<()> {
    let flags = InitFlags::from_bits_retain(WATCH_GROUP);
    let group = Fanotify::init(flags, EventFFlags::empty())?;
    let flags = MarkFlags::FAN_MARK_ADD | of;
    let from = fs::File::open(from)?;
    group.mark(
        flags,
        MaskFlags::FAN_CREATE | MaskFlags::FAN_ONDIR,
        &from,
        path,
    )?;
    Ok(())
}

/// Tries `native` on a thread of its own that is without the layers `away`.
fn is_possible(native: &Native, away: &[Layer]) -> bool {
    let world = World::new().unwrap();
    let mut other = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let (root, outside) = (world.root(), world.outside());
    let scene = Scene {
        root: &root,
        outside: &outside,
        other: &other,
    };
    let tried = thread::scope(|scope| {
        let run = || {
            let place = fs::File::open(&root).unwrap();
            if !away.contains(&Files) {
                assert!(lockdown::confine_files(place.as_fd(), true).unwrap());
            }
            if !away.contains(&Calls) {
                lockdown::confine_calls(Threads::This).unwrap();
            }
            (native.run)(&scene)
        };
        scope.spawn(run).join().unwrap()
    });
    other.kill().unwrap();
    other.wait().unwrap();
    tried.is_ok()
}

#[test]
fn the_kernel_stops_machine_code_by_the_layers_the_table_names() {
    if !is_safe_here() {
        return;
    }
    for native in NATIVE {
        let what = native.what;
        assert!(!is_possible(native, &[]), "{what}");
        for (kept, away) in [(Files, Calls), (Calls, Files)] {
            let stopped = !is_possible(native, &[away]);
            let by = native.by.contains(&kept);
            assert_eq!(stopped, by, "{what}, with {kept} alone");
        }
        assert!(is_possible(native, &[Files, Calls]), "{what}, with neither");
    }
}
