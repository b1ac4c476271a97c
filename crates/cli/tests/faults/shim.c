// Lets one system call of a process fail, as a full or a broken disk does.
//
// Loaded before the program (LD_PRELOAD), it asks the kernel to trap every call that changes a file. Trapping calls and
// not functions of the C library also catches those that make their calls directly. What touches nothing below
// FAULT_UNDER is let through. The others are numbered from 1, noted in FAULT_LOG, and number FAULT_AT fails:
//
//   FAULT_KIND=full    with ENOSPC, and so does everything after it that needs room: the disk stays full
//   FAULT_KIND=broken  with EIO, once
//   FAULT_KIND=short   not at all, but a write does only half of it, as a write may
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the numbers and registers of system calls here are those of x86-64"
#endif

enum { PATH_BYTES = 4096, LINE_BYTES = 2 * PATH_BYTES };

// The one place whose calls are not trapped: the filter lets this address through.
long real_call(long number, long a, long b, long c, long d, long e, long f);
extern char after_real_call[];
__asm__(".text\n"
        ".globl real_call\n"
        "real_call:\n"
        "  mov %rdi, %rax\n"
        "  mov %rsi, %rdi\n"
        "  mov %rdx, %rsi\n"
        "  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n"
        "  mov %r9, %r8\n"
        "  mov 8(%rsp), %r9\n"
        "  syscall\n"
        ".globl after_real_call\n"
        "after_real_call:\n"
        "  ret\n");

static const long TRAPPED[] = {
    SYS_write,   SYS_writev,  SYS_pwrite64,  SYS_pwritev,  SYS_pwritev2,  SYS_fsync,    SYS_fdatasync, SYS_ftruncate,
    SYS_rename,  SYS_mkdir,   SYS_renameat,  SYS_mkdirat,  SYS_renameat2, SYS_symlink,  SYS_symlinkat, SYS_link,
    SYS_linkat,  SYS_unlink,  SYS_unlinkat,  SYS_open,     SYS_openat,    SYS_creat,    SYS_fallocate, SYS_rmdir,
    SYS_copy_file_range, SYS_sendfile,
};
enum { TRAPPED_COUNT = sizeof TRAPPED / sizeof *TRAPPED };

static char under[PATH_BYTES];
static char kind;
static long fail_at;
static int log_file = -1;
static volatile long calls;

// What a call is about.
struct call {
    const char *name;
    char path[PATH_BYTES];
    int takes_room;
    int writes;
};

static long raw(long number, long a, long b, long c, long d) { return real_call(number, a, b, c, d, 0, 0); }

static void path_of_descriptor(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = raw(SYS_readlink, (long)link, (long)path, PATH_BYTES - 1, 0);
    path[length > 0 ? length : 0] = 0;
}

// Joins a relative path with the folder it is relative to.
static void path_of_name(int folder, const char *name, char *path) {
    if (name[0] == '/') {
        snprintf(path, PATH_BYTES, "%s", name);
        return;
    }
    char base[PATH_BYTES];
    if (folder == AT_FDCWD) {
        long length = raw(SYS_readlink, (long)"/proc/self/cwd", (long)base, PATH_BYTES - 1, 0);
        base[length > 0 ? length : 0] = 0;
    } else {
        path_of_descriptor(folder, base);
    }
    size_t length = strlen(base);
    if (length + strlen(name) + 2 > PATH_BYTES) {
        path[0] = 0;
        return;
    }
    memcpy(path, base, length);
    path[length] = '/';
    strcpy(path + length + 1, name);
}

static int of_descriptor(struct call *call, const char *name, long descriptor) {
    call->name = name;
    path_of_descriptor((int)descriptor, call->path);
    return 1;
}

static int of_name(struct call *call, const char *name, long folder, long path) {
    call->name = name;
    path_of_name((int)folder, (const char *)path, call->path);
    return 1;
}

// Opening changes something only if it may write.
static int of_open(struct call *call, long folder, long path, long flags) {
    call->takes_room = (flags & (O_CREAT | O_TMPFILE)) != 0;
    int changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
    return changes ? of_name(call, "open", folder, path) : 0;
}

static int describe(struct call *call, long number, const long *a) {
    call->takes_room = 1;
    call->writes = 0;
    switch (number) {
    case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_pwritev: case SYS_pwritev2:
        call->writes = 1;
        return of_descriptor(call, "write", a[0]);
    case SYS_fsync: case SYS_fdatasync: return of_descriptor(call, "fsync", a[0]);
    case SYS_ftruncate: case SYS_fallocate: return of_descriptor(call, "truncate", a[0]);
    case SYS_sendfile: return of_descriptor(call, "write", a[0]);
    case SYS_copy_file_range: return of_descriptor(call, "write", a[2]);
    case SYS_rename: return of_name(call, "rename", AT_FDCWD, a[1]);
    case SYS_renameat: case SYS_renameat2: return of_name(call, "rename", a[2], a[3]);
    case SYS_mkdir: return of_name(call, "mkdir", AT_FDCWD, a[0]);
    case SYS_mkdirat: return of_name(call, "mkdir", a[0], a[1]);
    case SYS_symlink: return of_name(call, "link", AT_FDCWD, a[1]);
    case SYS_symlinkat: return of_name(call, "link", a[1], a[2]);
    case SYS_link: return of_name(call, "link", AT_FDCWD, a[1]);
    case SYS_linkat: return of_name(call, "link", a[2], a[3]);
    case SYS_open: return of_open(call, AT_FDCWD, a[0], a[1]);
    case SYS_creat: return of_open(call, AT_FDCWD, a[0], O_CREAT | O_WRONLY);
    case SYS_openat: return of_open(call, a[0], a[1], a[2]);
    default: break;
    }
    // What only removes works on a full disk too.
    call->takes_room = 0;
    switch (number) {
    case SYS_unlink: case SYS_rmdir: return of_name(call, "remove", AT_FDCWD, a[0]);
    case SYS_unlinkat: return of_name(call, "remove", a[0], a[1]);
    default: return 0;
    }
}

static int is_under(const char *path) {
    size_t length = strlen(under);
    return strncmp(path, under, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static void note(long number, const struct call *call, const char *what) {
    char line[LINE_BYTES];
    const char *path = call->path + strlen(under);
    int length = snprintf(line, sizeof line, "%ld %s %s %s\n", number, what, call->name, *path ? path : "/");
    raw(SYS_write, log_file, (long)line, length, 0);
}

static long half_of_it(long number, const long *a) {
    if (number != SYS_write && number != SYS_pwrite64) {
        return real_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    return raw(number, a[0], a[1], (a[2] + 1) / 2, a[3]);
}

static long decide(long number, const long *a) {
    struct call call;
    if (!describe(&call, number, a) || !is_under(call.path)) {
        return real_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    long at = __sync_add_and_fetch(&calls, 1);
    int hit = fail_at > 0 && at == fail_at;
    if (kind == 'f' && fail_at > 0 && at >= fail_at && call.takes_room) {
        note(at, &call, "failed");
        return -ENOSPC;
    }
    if (kind == 'b' && hit) {
        note(at, &call, "failed");
        return -EIO;
    }
    if (kind == 's' && hit && call.writes) {
        note(at, &call, "halved");
        return half_of_it(number, a);
    }
    note(at, &call, "passed");
    return real_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    r[REG_RAX] = decide(r[REG_RAX], a);
}

static void give_up(const char *why) {
    fprintf(stderr, "shim: %s\n", why);
    _exit(99);
}

// Traps the calls of the list, unless they come from `real_call`.
static void install_filter(void) {
    struct sock_filter filter[8 + 2 * TRAPPED_COUNT];
    size_t n = 0;
    uint64_t free_address = (uint64_t)(uintptr_t)after_real_call;
    size_t address = offsetof(struct seccomp_data, instruction_pointer);
    struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)address),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)free_address, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(address + 4)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(free_address >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    memcpy(filter, head, sizeof head);
    n = sizeof head / sizeof *head;
    for (size_t i = 0; i < TRAPPED_COUNT; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)TRAPPED[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("PR_SET_NO_NEW_PRIVS is refused");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) give_up("a filter of system calls is refused");
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("FAULT_UNDER"), *at = getenv("FAULT_AT");
    const char *how = getenv("FAULT_KIND"), *log = getenv("FAULT_LOG");
    if (!folder || !at || !how || !log) give_up("FAULT_UNDER, FAULT_AT, FAULT_KIND and FAULT_LOG are needed");
    snprintf(under, sizeof under, "%s", folder);
    fail_at = atol(at);
    kind = how[0];
    log_file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (log_file < 0) give_up("FAULT_LOG cannot be written");
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSYS, &action, NULL) != 0) give_up("SIGSYS cannot be handled");
    install_filter();
}
