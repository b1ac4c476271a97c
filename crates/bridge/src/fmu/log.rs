//! What FMUs log.
//!
//! There is one log for the process: the pointer that the standard hands back to a logger is forgotten or mangled by some
//! tools, so it is never looked at.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Lines that are kept for messages about failures.
const LINES_KEPT: usize = 8;
/// Longest line; the rest is cut.
const LINE_BYTES_MAX: usize = 1024;

static LINES: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
static FORWARD: AtomicBool = AtomicBool::new(false);

/// From now on lines also go to standard error, where whoever supervises this process sees and limits them.
pub fn forward_to_standard_error() {
    FORWARD.store(true, Ordering::Relaxed);
}

/// Takes the last lines away, oldest first.
pub fn take() -> String {
    let lines = std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner));
    Vec::from(lines).join(" · ")
}

fn add(line: &str) {
    let line = line.trim_end();
    if line.is_empty() {
        return;
    }
    if FORWARD.load(Ordering::Relaxed) {
        // A closed standard error is no reason to fail.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push_back(line.to_owned());
    if lines.len() > LINES_KEPT {
        lines.pop_front();
    }
}

/// # Safety
/// `message` is null or a text that ends with a zero.
unsafe fn add_pointer(message: *const c_char) {
    if message.is_null() {
        return;
    }
    // SAFETY: as promised by the caller.
    let text = unsafe { CStr::from_ptr(message) }.to_bytes();
    add(&String::from_utf8_lossy(&text[..text.len().min(LINE_BYTES_MAX)]));
}

/// FMI 3: the message is ready.
///
/// # Safety
/// Called as the standard says.
pub(super) unsafe extern "C" fn logger_three(
    _environment: *mut c_void,
    _status: c_int,
    _category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the standard promises a text that ends with a zero.
    unsafe { add_pointer(message) };
}

/// FMI 2: a format and its values, as `printf` takes them.
///
/// Stable Rust cannot write such a function. It spills the registers that may hold values where the calling
/// convention of x86-64 (System V, section 3.5.7) wants them, and hands a `va_list` on.
///
/// # Safety
/// Called as the standard says.
#[cfg(all(unix, target_arch = "x86_64"))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn logger_two() {
    std::arch::naked_asm!(
        // 16 bytes aligned again, with 176 bytes of saved registers at 32 and the list at 0.
        "sub rsp, 216",
        "mov [rsp + 72], r9",
        "movaps [rsp + 80], xmm0",
        "movaps [rsp + 96], xmm1",
        "movaps [rsp + 112], xmm2",
        "movaps [rsp + 128], xmm3",
        "movaps [rsp + 144], xmm4",
        "movaps [rsp + 160], xmm5",
        "movaps [rsp + 176], xmm6",
        "movaps [rsp + 192], xmm7",
        // Five registers of six were named arguments; no vector register was.
        "mov dword ptr [rsp], 40",
        "mov dword ptr [rsp + 4], 48",
        "lea rax, [rsp + 224]",
        "mov [rsp + 8], rax",
        "lea rax, [rsp + 32]",
        "mov [rsp + 16], rax",
        "mov r9, rsp",
        "call {formatted}",
        "add rsp, 216",
        "ret",
        formatted = sym formatted,
    )
}

/// # Safety
/// Called by [`logger_two`] alone.
#[cfg(all(unix, target_arch = "x86_64"))]
unsafe extern "C" fn formatted(
    _environment: *mut c_void,
    _instance: *const c_char,
    _status: c_int,
    _category: *const c_char,
    format: *const c_char,
    values: *mut c_void,
) {
    // SAFETY: declared as in the C standard; a `va_list` is handed over as an address on this machine.
    unsafe extern "C" {
        fn vsnprintf(buffer: *mut c_char, size: usize, format: *const c_char, values: *mut c_void) -> c_int;
    }
    if format.is_null() {
        return;
    }
    let mut buffer = [0; LINE_BYTES_MAX];
    // SAFETY: the buffer has the size that is told, and format and values belong together as the standard demands.
    let written = unsafe { vsnprintf(buffer.as_mut_ptr(), buffer.len(), format, values) };
    // SAFETY: `vsnprintf` ends what it writes with a zero; if it refuses, the format itself is shown.
    unsafe { add_pointer(if written < 0 { format } else { buffer.as_ptr() }) };
}

/// FMI 2 on other machines: the format without its values.
///
/// # Safety
/// Called as the standard says.
#[cfg(not(all(unix, target_arch = "x86_64")))]
pub(super) unsafe extern "C" fn logger_two(
    _environment: *mut c_void,
    _instance: *const c_char,
    _status: c_int,
    _category: *const c_char,
    format: *const c_char,
) {
    // SAFETY: the standard promises a text that ends with a zero.
    unsafe { add_pointer(format) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(unix, target_arch = "x86_64"))]
    #[test]
    fn a_line_with_many_values_is_formatted() {
        // SAFETY: a type of how FMUs see the logger.
        type Logger = unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char, ...);
        // SAFETY: this is how FMUs call the logger.
        let logger: Logger = unsafe { std::mem::transmute(logger_two as unsafe extern "C" fn()) };
        let (format, word) = (c"%d %s %g %s %.2f %ld %d %d|%g %g %g %g %g %g %g %g", c"word");
        let nothing = std::ptr::null_mut();
        // SAFETY: format and values belong together.
        unsafe {
            logger(
                nothing,
                word.as_ptr(),
                3,
                word.as_ptr(),
                format.as_ptr(),
                1 as c_int,
                word.as_ptr(),
                2.5,
                c"other".as_ptr(),
                3.125,
                4_i64,
                5 as c_int,
                6 as c_int,
                1.0,
                2.0,
                3.0,
                4.0,
                5.0,
                6.0,
                7.0,
                8.0,
            );
        }
        assert_eq!(take(), "1 word 2.5 other 3.12 4 5 6|1 2 3 4 5 6 7 8");
        for line in 0..100 {
            add(&format!("line {line}"));
        }
        let last = take();
        assert!(last.starts_with("line 92 ·") && last.ends_with("line 99"), "{last}");
    }
}
