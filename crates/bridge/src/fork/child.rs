//! The child's side: the sentinel, and the loop of every process that holds the driver.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, Signal, killpg, signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, dup2_stdin, fork, getpid, setpgid};

use super::link::receive;
use crate::driver::{Driver, answer};
use crate::protocol::{Reply, Request, write_frame};

/// Longest time a dead fork waits to be reaped, in milliseconds.
const REAP_EVERY_MS: u8 = 50;

/// Serves a host that wants forks. Must be called before the program has a second thread.
pub fn serve_forks(driver: impl Driver) -> ExitCode {
    match split_off_the_zygote(driver) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("a child of Anabranch cannot serve forks: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Stays behind as the sentinel; the zygote and its forks never return from here.
fn split_off_the_zygote(driver: impl Driver) -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (Request::Branch, Some(link)) = receive(&control)? else {
        return Err(io::Error::other("the host did not begin with a link for the zygote"));
    };
    if let Some(threads) = threads().filter(|&threads| threads != 1) {
        let reason = format!("the program has {threads} threads; fork would copy only one, use replay");
        return write_frame(&mut &link, &Reply::Refused(reason));
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    nix::sys::prctl::set_child_subreaper(true)?;
    // Ctrl-C at the terminal is for the host; the sentinel ends after it, not before.
    ignore(Signal::SIGINT)?;
    ignore(Signal::SIGHUP)?;
    // SAFETY: this process has one thread, so the copy is whole.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            drop(link);
            let _ = setpgid(child, child);
            guard(&control, child);
            Ok(())
        }
        ForkResult::Child => {
            drop(control);
            let ready = setpgid(Pid::from_raw(0), Pid::from_raw(0))
                .map_err(io::Error::from)
                .and_then(|()| Ok(dup2_stdin(File::open("/dev/null")?)?))
                .and_then(|()| ignore(Signal::SIGCHLD));
            if ready.is_ok() && write_frame(&mut &link, &Reply::Branched(getpid().as_raw())).is_ok() {
                follow(driver, link);
            }
            leave()
        }
    }
}

/// How many threads this process has, where that can be known.
fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

fn ignore(which: Signal) -> io::Result<()> {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { signal(which, SigHandler::SigIgn) }?;
    Ok(())
}

/// Reaps what is orphaned until the host or the zygote is gone, then ends and reaps all of them.
fn guard(control: &UnixStream, zygote: Pid) {
    loop {
        let mut host = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
        let host_gone = !matches!(poll(&mut host, PollTimeout::from(REAP_EVERY_MS)), Ok(0) | Err(Errno::EINTR));
        if host_gone || reap_and_find(zygote) {
            break;
        }
    }
    let _ = killpg(zygote, Signal::SIGKILL);
    while !matches!(waitpid(None, None), Err(Errno::ECHILD)) {}
}

/// Reaps every dead process; true if the zygote is among them.
fn reap_and_find(zygote: Pid) -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return false,
            Ok(status) if status.pid() == Some(zygote) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return true,
        }
    }
}

/// Answers on a link until it ends; after a fork the copy answers on its own link.
fn follow(mut driver: impl Driver, mut link: UnixStream) {
    while let Ok((request, new_link)) = receive(&link) {
        let reply = match (request, new_link) {
            (Request::Branch, Some(new_link)) => {
                // SAFETY: this process has one thread (see `split_off_the_zygote`), so the copy is whole.
                match unsafe { fork() } {
                    Ok(ForkResult::Parent { .. }) => continue,
                    Ok(ForkResult::Child) => {
                        link = new_link;
                        Reply::Branched(getpid().as_raw())
                    }
                    Err(error) => {
                        let _ = write_frame(&mut &new_link, &Reply::Refused(format!("fork failed: {error}")));
                        continue;
                    }
                }
            }
            (request, _) => answer(&mut driver, request),
        };
        if write_frame(&mut &link, &reply).is_err() {
            return;
        }
    }
}

/// Ends a fork without what the program does at its own end (removing files, flushing buffers of its parent).
fn leave() -> ! {
    // SAFETY: the process ends here; nothing of it is used afterwards.
    unsafe { nix::libc::_exit(0) }
}
