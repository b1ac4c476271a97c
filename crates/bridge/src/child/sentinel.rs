//! The process between us and the command. Everything here runs after a fork of a program with threads: system
//! calls on memory that was prepared before, and nothing else. No allocation, no lock, no panic.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::libc::{self, c_int, pid_t};

/// Address space beyond the limit of memory: libraries map far more than they touch, and this is only the last barrier.
const ADDRESS_SPACE_FACTOR: u64 = 4;
const ADDRESS_SPACE_MORE_BYTES: u64 = 8 << 30;

/// What the sentinel needs to know, made before the fork.
pub(super) struct Plan {
    lifeline: RawFd,
    address_space_bytes: u64,
    socket: CString,
    folder: CString,
}

impl Plan {
    pub(super) fn new(lifeline: RawFd, memory_bytes: u64, socket: &Path) -> io::Result<Self> {
        let folder = socket.parent().unwrap_or(socket);
        Ok(Self {
            lifeline,
            address_space_bytes: memory_bytes.saturating_mul(ADDRESS_SPACE_FACTOR).saturating_add(ADDRESS_SPACE_MORE_BYTES),
            socket: CString::new(socket.as_os_str().as_bytes())?,
            folder: CString::new(folder.as_os_str().as_bytes())?,
        })
    }
}

/// Called in the forked child before it becomes the command: forks once more. Returns in the process that becomes the
/// command; the other one is the sentinel and never returns.
pub(super) fn split(plan: &Plan) -> io::Result<()> {
    // SAFETY: plain system calls on local values; `old` is written by the call that takes its address before it is read.
    unsafe {
        // Out of the session of the terminal: Ctrl-C is for us, and we decide what becomes of the child.
        libc::setsid();
        let mut block = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut old = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigemptyset(block.as_mut_ptr());
        libc::sigaddset(block.as_mut_ptr(), libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, block.as_ptr(), old.as_mut_ptr());
        adopt_orphans();
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::setpgid(0, 0);
                libc::sigprocmask(libc::SIG_SETMASK, old.as_ptr(), std::ptr::null_mut());
                die_with_parent();
                limit(libc::RLIMIT_AS, plan.address_space_bytes);
                limit(libc::RLIMIT_CORE, 0);
                Ok(())
            }
            command => {
                libc::setpgid(command, command);
                guard(command, plan, old.assume_init_ref())
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}
#[cfg(target_os = "linux")]
fn die_with_parent() {
    // SAFETY: sets a flag of this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
}
/// Elsewhere the group is all there is.
#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}
#[cfg(not(target_os = "linux"))]
fn die_with_parent() {}

#[cfg(target_os = "linux")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_os = "linux"))]
type Resource = c_int;

fn limit(resource: Resource, value: u64) {
    let limit = libc::rlimit { rlim_cur: value as libc::rlim_t, rlim_max: value as libc::rlim_t };
    // SAFETY: reads a local value. A limit that is already lower stays, and the call then fails.
    unsafe { libc::setrlimit(resource, &raw const limit) };
}

extern "C" fn woken(_signal: c_int) {}

/// Waits until the command ends or the line to the host is closed, ends all, tells how it went.
fn guard(command: pid_t, plan: &Plan, unblocked: &libc::sigset_t) -> ! {
    keep_only(plan.lifeline);
    forget_memory();
    // SAFETY: system calls on local values; the handler does nothing, it only ends waits.
    unsafe {
        let mut wake = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        wake.sa_sigaction = woken as extern "C" fn(c_int) as usize;
        libc::sigaction(libc::SIGCHLD, &raw const wake, std::ptr::null_mut());
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    tell(plan.lifeline, &command.to_ne_bytes());
    let mut ended = None;
    while ended.is_none() && reap(command, &mut ended, libc::WNOHANG) != Reaped::NobodyLeft {
        if ended.is_none() && wait(plan.lifeline, unblocked) {
            break;
        }
    }
    loop {
        // SAFETY: the group is that of the command; it has no other members than what came of it.
        unsafe { libc::kill(-command, libc::SIGKILL) };
        if !end_children() || reap(command, &mut ended, 0) == Reaped::NobodyLeft {
            break;
        }
    }
    let (status, kilobytes) = ended.unwrap_or((0, 0));
    let mut told = [0_u8; 12];
    told[..4].copy_from_slice(&status.to_ne_bytes());
    told[4..].copy_from_slice(&kilobytes.to_ne_bytes());
    tell(plan.lifeline, &told);
    // SAFETY: paths that end with a zero byte; where we removed them before, nothing happens. Then this process ends.
    unsafe {
        libc::unlink(plan.socket.as_ptr());
        libc::rmdir(plan.folder.as_ptr());
        libc::_exit(0)
    }
}

/// Sleeps until a child ends or the host speaks or goes; true for the host, who never speaks.
fn wait(lifeline: RawFd, unblocked: &libc::sigset_t) -> bool {
    let mut fd = libc::pollfd { fd: lifeline, events: libc::POLLIN, revents: 0 };
    // SAFETY: one local `pollfd`. With `ppoll` the end of a child between looking and sleeping is not missed.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::ppoll(&raw mut fd, 1, std::ptr::null(), unblocked)
    };
    // SAFETY: one local `pollfd`.
    #[cfg(not(target_os = "linux"))]
    unsafe {
        let _ = unblocked;
        libc::poll(&raw mut fd, 1, 50)
    };
    fd.revents != 0
}

#[derive(PartialEq, Eq)]
enum Reaped {
    Somebody,
    NobodyLeft,
}

/// Takes leave of ended children; with flags 0 waits for one.
fn reap(command: pid_t, ended: &mut Option<(i32, i64)>, flags: c_int) -> Reaped {
    loop {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both are local, and zero is a value of them.
        let (pid, kilobytes) = unsafe {
            let pid = libc::wait4(-1, &raw mut status, flags, usage.as_mut_ptr());
            (pid, usage.assume_init_ref().ru_maxrss)
        };
        if pid == command {
            #[expect(clippy::unnecessary_cast, reason = "the type differs between systems")]
            let kilobytes = kilobytes as i64;
            *ended = Some((status, kilobytes));
        }
        match pid {
            0 => return Reaped::Somebody,
            -1 if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            -1 => return Reaped::NobodyLeft,
            _ if flags == 0 => return Reaped::Somebody,
            _ => {}
        }
    }
}

fn tell(lifeline: RawFd, bytes: &[u8]) {
    // SAFETY: a local buffer. If nobody listens any more, nobody needs it.
    unsafe { libc::write(lifeline, bytes.as_ptr().cast(), bytes.len()) };
}

/// Closes every file but one: pipes and links of the host would stay open as long as we hold them.
fn keep_only(fd: RawFd) {
    let keep = fd as u32;
    // SAFETY: closes files of this process; nothing here uses them.
    unsafe {
        #[cfg(target_os = "linux")]
        if libc::syscall(libc::SYS_close_range, keep + 1, u32::MAX, 0) == 0
            && (keep == 0 || libc::syscall(libc::SYS_close_range, 0, keep - 1, 0) == 0)
        {
            return;
        }
        for other in (0..4096).filter(|&other| other != fd) {
            libc::close(other);
        }
    }
}

/// Ends the direct children, whatever group they are in. False where this system does not list them.
#[cfg(target_os = "linux")]
fn end_children() -> bool {
    read_file(c"/proc/thread-self/children", |pid: &mut u32, byte| {
        match byte {
            b'0'..=b'9' => *pid = pid.wrapping_mul(10).wrapping_add(u32::from(byte - b'0')),
            _ => {
                if *pid > 1 {
                    // SAFETY: a child of ours that was not taken leave of, so the number is still its own.
                    unsafe { libc::kill(*pid as pid_t, libc::SIGKILL) };
                }
                *pid = 0;
            }
        }
    })
}
#[cfg(not(target_os = "linux"))]
fn end_children() -> bool {
    true
}

/// The fork keeps a copy of all that the host had in memory, page by page as the host changes it. The sentinel needs its
/// stack and nothing else, so large anonymous pages go back to the system.
#[cfg(target_os = "linux")]
fn forget_memory() {
    let mut line = Line::default();
    read_file(c"/proc/self/maps", |_: &mut (), byte| {
        if let Some((start, end)) = line.push(byte) {
            // SAFETY: private anonymous pages that hold neither this stack nor `errno`; nothing here reads them again.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
    });
}
#[cfg(not(target_os = "linux"))]
fn forget_memory() {}

/// Reads a file byte by byte; false if it cannot be read.
#[cfg(target_os = "linux")]
fn read_file<S: Default>(path: &std::ffi::CStr, mut each: impl FnMut(&mut S, u8)) -> bool {
    // SAFETY: a path that ends with a zero byte, and a local buffer of the length that is told.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let mut state = S::default();
        let mut buffer = [0_u8; 1024];
        loop {
            let count = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
            if count <= 0 {
                break;
            }
            for &byte in buffer.iter().take(count as usize) {
                each(&mut state, byte);
            }
        }
        libc::close(file);
    }
    true
}

/// One line of `/proc/self/maps`, as far as it is read: `start-end rw-p offset device inode name`.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Line {
    numbers: [usize; 2],
    second: bool,
    /// Fields that are finished, and bytes of the one that is not.
    fields: usize,
    at: usize,
    private_writable: bool,
    named: bool,
    bracket: bool,
}

#[cfg(target_os = "linux")]
impl Line {
    /// The range of a line that is finished with this byte and may be forgotten.
    fn push(&mut self, byte: u8) -> Option<(usize, usize)> {
        match byte {
            b'\n' => return std::mem::take(self).forgettable(),
            b' ' if self.at > 0 => (self.fields, self.at) = (self.fields + 1, 0),
            b' ' => {}
            _ => {
                self.look(byte);
                self.at += 1;
            }
        }
        None
    }
    fn look(&mut self, byte: u8) {
        match (self.fields, self.at, byte) {
            (0, _, b'-') => self.second = true,
            (0, _, digit) => {
                let number = &mut self.numbers[usize::from(self.second)];
                let value = (digit as char).to_digit(16).unwrap_or(0) as usize;
                *number = number.wrapping_mul(16).wrapping_add(value);
            }
            (1, 1, _) => self.private_writable = byte == b'w',
            (1, 3, _) => self.private_writable &= byte == b'p',
            (5.., 0, _) => (self.named, self.bracket) = (true, byte == b'['),
            // The heap is named and ours; any other name is a file, a stack or the kernel's.
            (5.., 1, b'h') if self.bracket => self.named = false,
            _ => {}
        }
    }
    fn forgettable(&self) -> Option<(usize, usize)> {
        /// Smaller ones may belong to the C library.
        const FORGOTTEN_BYTES: usize = 1 << 20;
        let [start, end] = self.numbers;
        let stack = std::ptr::from_ref(self) as usize;
        // SAFETY: asks where `errno` of this thread lies.
        let errno = unsafe { libc::__errno_location() } as usize;
        let needed = [stack, errno].iter().any(|address| (start..end).contains(address));
        let large = end.saturating_sub(start) >= FORGOTTEN_BYTES;
        (self.private_writable && !self.named && !needed && large).then_some((start, end))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Line;

    fn forgotten(line: &str) -> Option<(usize, usize)> {
        let mut reader = Line::default();
        line.bytes().chain([b'\n']).find_map(|byte| reader.push(byte))
    }

    #[test]
    fn only_large_private_pages_without_a_file_are_forgotten() {
        let heap = forgotten("55d0c0000000-55d0c0200000 rw-p 00000000 00:00 0                          [heap]");
        assert_eq!(heap, Some((0x55d0_c000_0000, 0x55d0_c020_0000)));
        assert!(forgotten("7f0000000000-7f0000200000 rw-p 00000000 00:00 0 ").is_some());
        for kept in [
            "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ",
            "7f0000000000-7f0000200000 r--p 00000000 00:00 0 ",
            "7f0000000000-7f0000200000 rw-s 00000000 00:00 0 ",
            "7f0000000000-7f0000200000 rw-p 00000000 fe:00 1234                       /home/h/data",
            "7ffd00000000-7ffd00200000 rw-p 00000000 00:00 0                          [stack]",
        ] {
            assert_eq!(forgotten(kept), None, "{kept}");
        }
    }
}
