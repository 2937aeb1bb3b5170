//! What a written file is besides its content: its mode, owner and group, and
//! whether it is a new file.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Gid, Uid};

use crate::harness::{Launch, NOBODY, Root, Server, ordinary, superuser};
use crate::tools_write::WAYS;

/// From none to every right that a umask can take away.
const UMASKS: [&str; 4] = ["000", "022", "077", "0777"];

/// The user and the group a file belongs to.
fn owners(root: &Root, path: &str) -> (u32, u32) {
    let found = fs::metadata(root.at(path)).unwrap();
    (found.uid(), found.gid())
}

#[test]
fn a_new_file_is_private_whatever_the_umask() {
    for umask in UMASKS {
        for (flags, condition) in WAYS {
            let root = Root::new();
            let mut server = Launch::after(&format!("umask {umask}"), &root)
                .args(flags.iter().copied())
                .start();
            server.write_if("new.txt", "x", condition).value();
            assert_eq!(root.mode("new.txt"), 0o600, "{umask} {flags:?}");
            server.close();
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_mode_whatever_the_umask() {
    for umask in UMASKS {
        let root = Root::new().file("old.sh", "old");
        let mut server = Launch::after(&format!("umask {umask}"), &root).start();
        for mode in [0o600, 0o640, 0o644, 0o755, 0o666, 0o777] {
            root.chmod("old.sh", mode);
            server.write("old.sh", format!("{mode:o}")).value();
            assert_eq!(root.mode("old.sh"), mode, "{umask}");
        }
        server.close();
    }
}

#[test]
fn what_a_program_ran_as_is_not_handed_on_to_other_content() {
    let root = Root::new().file("tool", "old");
    let mut server = Server::new(&root);
    for set_id in [0o4755, 0o2755, 0o6755] {
        root.chmod("tool", set_id);
        server.write("tool", "new").value();
        assert_eq!(root.mode("tool"), 0o755, "{set_id:o}");
    }
    server.close();
}

#[test]
fn a_replaced_file_keeps_its_owner_and_group() {
    if !superuser("a_replaced_file_keeps_its_owner_and_group") {
        return;
    }
    let root = Root::new().file("f.txt", "old");
    let mut server = Server::new(&root);
    for (user, group) in [(NOBODY, 0), (0, NOBODY), (1234, 5678)] {
        let (owner, group) = (Uid::from_raw(user), Gid::from_raw(group));
        rustix::fs::chown(root.at("f.txt"), Some(owner), Some(group)).unwrap();
        root.chmod("f.txt", 0o664);
        server.write("f.txt", "new").value();
        assert_eq!(owners(&root, "f.txt"), (user, group.as_raw()));
        assert_eq!(root.mode("f.txt"), 0o664);
    }
    server.close();
}

#[test]
fn a_file_of_somebody_else_is_replaced_where_it_may_be_written() {
    let test = "a_file_of_somebody_else_is_replaced_where_it_may_be_written";
    if !superuser(test) {
        return;
    }
    let root = Root::new().file("f.txt", "old");
    root.chmod("f.txt", 0o666);
    let Some(launch) = ordinary(test, &root) else {
        return;
    };
    let mut server = launch.start();
    server.write("f.txt", "new").value();
    // An ordinary user cannot give it away; everything else is as it was.
    assert_eq!(owners(&root, "f.txt"), (NOBODY, NOBODY));
    assert_eq!(
        (root.read("f.txt"), root.mode("f.txt")),
        (b"new".to_vec(), 0o666)
    );
    server.close();
}

#[test]
fn a_file_without_write_permission_is_not_replaced() {
    let root = Root::new().file("f.txt", "old");
    root.chmod("f.txt", 0o444);
    let Some(launch) = ordinary("a_file_without_write_permission_is_not_replaced", &root) else {
        return;
    };
    let mut server = launch.start();
    server
        .write("f.txt", "x")
        .refused("the operating system does not allow this server to write the path");
    assert_eq!(
        (root.read("f.txt"), root.names()),
        (b"old".to_vec(), vec!["f.txt".to_owned()])
    );
    server.close();
}

#[test]
fn a_replaced_file_is_a_new_file_so_readers_of_the_old_one_are_not_disturbed() {
    let root = Root::new().file("f.txt", "old text");
    let before = fs::metadata(root.at("f.txt")).unwrap().ino();
    let mut open = File::open(root.at("f.txt")).unwrap();
    let mut server = Server::new(&root);
    server.write("f.txt", "new").value();
    assert_ne!(fs::metadata(root.at("f.txt")).unwrap().ino(), before);
    let mut old = String::new();
    open.read_to_string(&mut old).unwrap();
    assert_eq!(old, "old text");
    server.close();
}
