//! Temporaries that a server left behind when it died. There are no locks in
//! WASI, so one of a call that still runs is told by its age: no call has more
//! than a day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use preopen_contract::policy::is_reserved;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorType, PathFlags};

use crate::root::listing;

/// The most time that `--call-timeout` gives a call.
const LONGEST_CALL: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what is left over at the top level of the root; what cannot be removed stays.
pub(super) fn remove() {
    let Some((root, _)) = get_directories().into_iter().next() else {
        return;
    };
    let Ok((_open, stream)) = listing(&root) else {
        return;
    };
    let mut found = Vec::new();
    // After an error there may be more entries, but no telling how many errors.
    while let Ok(Some(entry)) = stream.read_directory_entry() {
        if is_reserved(&entry.name) && entry.type_ == DescriptorType::RegularFile {
            found.push(entry.name);
        }
    }
    for name in found.iter().filter(|name| is_old(&root, name)) {
        let _ = root.unlink_file_at(name);
    }
}

fn is_old(root: &Descriptor, name: &str) -> bool {
    let Ok(stat) = root.stat_at(PathFlags::empty(), name) else {
        return false;
    };
    let Some(changed) = stat.data_modification_timestamp else {
        return false;
    };
    let changed = UNIX_EPOCH + Duration::from_secs(changed.seconds);
    SystemTime::now()
        .duration_since(changed)
        .is_ok_and(|age| age > LONGEST_CALL)
}
