//! Giving up with Landlock and seccomp: what is left of the rights to files,
//! and which system calls are refused. It knows nothing of who insists on it.

use std::os::fd::{AsFd, BorrowedFd};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::{Held, LockdownError};
use crate::confine::WATCH_GROUP;

/// Files are confined since Linux 5.13, completely (with truncation) since 6.2.
const FILES: ABI = ABI::V3;

/// What is taken along where the kernel has it: devices, TCP, abstract sockets
/// and signals (Linux 6.12).
const LATEST: ABI = ABI::V6;

/// `ENOSYS`: the caller uses an older call that can be looked into.
const NO_SUCH_CALL: u32 = libc::ENOSYS.unsigned_abs();

/// Gives up as much as this kernel offers, or with `required`, everything or an error.
pub(super) fn give_up(
    required: bool,
    root: BorrowedFd<'_>,
    writable: bool,
) -> Result<Held, LockdownError> {
    // The thread count is in /proc; without it there is nothing to compare.
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    let files = threads == 1 && confine_files(root, writable).unwrap_or(false);
    let calls = confine_calls(Threads::All).is_ok();
    match (required, files, calls) {
        (true, _, _) if threads != 1 => Err(LockdownError::Threads),
        (true, false, _) => Err(LockdownError::Landlock),
        (true, _, false) => Err(LockdownError::Seccomp),
        _ => Ok(Held { files, calls }),
    }
}

/// What may be done below the root: what `confine` does, and no more.
fn rights(writable: bool) -> BitFlags<AccessFs> {
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    if writable {
        reading
            | AccessFs::WriteFile
            | AccessFs::MakeReg
            | AccessFs::MakeDir
            | AccessFs::RemoveFile
            | AccessFs::RemoveDir
            // A finished temporary takes its place in another directory.
            | AccessFs::Refer
    } else {
        reading
    }
}

/// Whether everything that can happen to a file is confined.
pub(crate) fn confine_files(
    root: BorrowedFd<'_>,
    writable: bool,
) -> Result<bool, landlock::RulesetError> {
    let full = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(FILES))
        .is_ok();
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LATEST))?
        .handle_access(AccessNet::from_all(LATEST))?
        .scope(Scope::from_all(LATEST))?
        .create()?
        .add_rule(PathBeneath::new(root.as_fd(), rights(writable)))?
        .restrict_self()?;
    Ok(full && status.ruleset != RulesetStatus::NotEnforced)
}

/// Whom a filter binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Every thread there is.
    All,
    /// The caller, and what it starts.
    #[cfg(test)]
    This,
}

/// Installs the two filters.
pub(crate) fn confine_calls(threads: Threads) -> Result<(), seccompiler::Error> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    for (action, rules) in [
        (
            SeccompAction::Errno(NO_SUCH_CALL),
            vec![(libc::SYS_clone3, vec![])],
        ),
        (
            SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            forbidden()?,
        ),
    ] {
        let filter = SeccompFilter::new(
            rules.into_iter().collect(),
            SeccompAction::Allow,
            action,
            arch,
        )?;
        let program: BpfProgram = filter.try_into()?;
        match threads {
            Threads::All => seccompiler::apply_filter_all_threads(&program)?,
            #[cfg(test)]
            Threads::This => seccompiler::apply_filter(&program)?,
        }
    }
    Ok(())
}

/// The calls that are refused; with rules, only those whose arguments match.
fn forbidden() -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::BackendError> {
    let flag = |argument, mask: i32, expected: i32| {
        let (mask, expected) = (
            u64::from(mask.unsigned_abs()),
            u64::from(expected.unsigned_abs()),
        );
        let operation = SeccompCmpOp::MaskedEq(mask);
        let condition =
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, expected)?;
        SeccompRule::new(vec![condition])
    };
    let mut calls: Vec<(i64, Vec<SeccompRule>)> =
        NEVER.iter().map(|call| (*call, vec![])).collect();
    // New machine code: memory that may be executed.
    for call in [libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_pkey_mprotect] {
        calls.push((call, vec![flag(2, libc::PROT_EXEC, libc::PROT_EXEC)?]));
    }
    // Typing into the terminal the server was started from.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| {
        let condition =
            SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request)?;
        SeccompRule::new(vec![condition])
    });
    calls.push((
        libc::SYS_ioctl,
        typing.into_iter().collect::<Result<_, _>>()?,
    ));
    // Watching is by descriptors, which Landlock lets nobody have of what is
    // outside; never by a path, of a mount, or of a file system.
    let differs = |argument, length, value| {
        let condition = SeccompCondition::new(argument, length, SeccompCmpOp::Ne, value)?;
        SeccompRule::new(vec![condition])
    };
    let group = u64::from(WATCH_GROUP);
    calls.push((
        libc::SYS_fanotify_init,
        vec![differs(0, SeccompCmpArgLen::Dword, group)?],
    ));
    let of_many = [libc::FAN_MARK_MOUNT, libc::FAN_MARK_FILESYSTEM].map(u32::cast_signed);
    calls.push((
        libc::SYS_fanotify_mark,
        vec![
            differs(4, SeccompCmpArgLen::Qword, 0)?,
            flag(1, of_many[0], of_many[0])?,
            flag(1, of_many[1], of_many[1])?,
        ],
    ));
    // New processes: what is cloned must be a thread.
    calls.push((libc::SYS_clone, vec![flag(0, libc::CLONE_THREAD, 0)?]));
    Ok(calls)
}

/// Never needed once the server runs.
const NEVER: &[i64] = &[
    // programs
    libc::SYS_execve,
    libc::SYS_execveat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    // sockets
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    // what Landlock does not know of files named by a path
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    // ways around the filter, and into the kernel
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_personality,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    libc::SYS_memfd_secret,
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
];
