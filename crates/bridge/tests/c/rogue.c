/* A driver that behaves until tick 10 and then misbehaves in the way its argument names. */
#define ANABRANCH_IMPLEMENTATION
#include "anabranch.h"

static const char *way = "none";
static int calls;

typedef struct {
    double steps;
} memory;

static int is(const char *word) { return strcmp(way, word) == 0; }

/* So that no compiler sees through it. */
static volatile int zero;
static volatile char *volatile nowhere;

static int recurse(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

static void flood(FILE *stream) {
    for (;;) fputs("I have so much to say, and nobody asked for it. ", stream);
}

static void eat_memory(void) {
    for (;;) {
        char *block = (char *)malloc((size_t)16 << 20);
        if (block == NULL) abort();
        memset(block, 1, (size_t)16 << 20);
    }
}

/* Finds the link: the only socket of this process that is connected. */
static int link_socket(void) {
    int fd;
    for (fd = 3; fd < 64; fd++) {
        struct sockaddr_un peer;
        socklen_t size = (socklen_t)sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0) return fd;
    }
    return -1;
}

/* Sends a reply past the kit, then waits to be ended. */
static void say(const char *frames, size_t size) {
    abx_write_all(link_socket(), frames, size);
    for (;;) pause();
}
#define SAY(frames) say(frames, sizeof(frames) - 1)

static void leave_grandchild(void) {
    if (fork() == 0) {
        for (;;) pause();
    }
    abort();
}

/* Ends or blocks the process, or spoils the line. */
static void break_process(void) {
    if (is("segfault")) *nowhere = 1;
    if (is("abort")) abort();
    if (is("exit")) exit(3);
    if (is("exit-well")) exit(0);
    if (is("divide")) raise(SIGFPE);
    if (is("stack")) zero = recurse(1);
    if (is("double-free")) {
        void *volatile block = malloc(64);
        free(block);
        free(block);
    }
    if (is("kill")) kill(getpid(), SIGKILL);
    if (is("stop")) kill(getpid(), SIGSTOP);
    if (is("hang")) {
        for (;;) pause();
    }
    if (is("spin")) {
        for (;;) zero = 0;
    }
    if (is("ignore-term")) {
        signal(SIGTERM, SIG_IGN);
        for (;;) pause();
    }
    if (is("flood-stdout")) flood(stdout);
    if (is("flood-stderr")) flood(stderr);
    if (is("memory")) eat_memory();
    if (is("grandchild")) leave_grandchild();
    if (is("close")) {
        close(link_socket());
        for (;;) pause();
    }
}

static void break_line(void) {
    if (is("not-msgpack")) SAY("\1\0\0\4\xc1\xc1\xc1\xc1");
    if (is("truncated")) SAY("\1\0\0\3\x84\xa9" "a");
    if (is("oversized")) SAY("\1\0\2\0\0\0\0\x7f\xff\xff\xff");
    if (is("huge-length")) SAY("\1\0\2\xff\xff\xff\xff\xff\xff\xff\xff");
    if (is("bad-frame")) SAY("\xff\xff\xff\xff\xff\xff\xff\xff");
    if (is("wrong-version")) SAY("\1\0\0\x1a\x83\xa9" "anabranch\2\xa3" "seq\1\xa7" "answers\x90");
    if (is("wrong-seq")) SAY("\1\0\0\x1c\x83\xa9" "anabranch\1\xa3" "seq\xcd\x7f\xff\xa7" "answers\x90");
}

static void spoil(ab_decision *out) {
    static const double none = 0.0;
    static const ab_trajectory_point lost[1] = { { 0.0, 1e300, 0.0, 0.0, 1e300 } };
    if (is("nan")) out->steer = none / none;
    if (is("nan-accel")) out->accel = none / none;
    if (is("infinite")) out->accel = 1.0 / none;
    if (is("steer-range")) out->steer = 1e9;
    if (is("accel-range")) out->accel = -1e9;
    if (is("gear-range")) out->gear = 7;
    if (is("nan-key")) out->key[0] = none / none;
    if (is("lost-trajectory")) out->trajectory = lost, out->trajectory_count = 1;
    /* Equal questions, other answers: the process remembers what no saved state has. */
    if (is("moody")) out->steer = 1e-3 * (double)(++calls % 97);
}

static int step(void *self, const ab_seen *seen, ab_decision *out) {
    memory *m = (memory *)self;
    m->steps += 1.0;
    out->key[0] = m->steps;
    if (seen->tick < 10) return 0;
    if (is("fail")) return ab_fail("I do not want to");
    if (is("fail-without-text")) return 7;
    if (is("hostile-text")) return ab_fail("\x1b[2J\x1b]0;owned\x07 <script>alert(1)</script> \xff\xfe");
    if (is("slow")) poll(NULL, 0, 300);
    break_process();
    break_line();
    spoil(out);
    return 0;
}

static int reset(void *self, const ab_begin *begin) {
    (void)begin;
    ((memory *)self)->steps = 0.0;
    return is("fail-reset") ? ab_fail("no beginning is good enough") : 0;
}

static long save(void *self, void *into, size_t room) {
    if (is("fail-save")) return ab_fail("nothing is worth keeping");
    if (room >= sizeof(memory)) memcpy(into, self, sizeof(memory));
    return (long)sizeof(memory);
}

static int load(void *self, const void *bytes, size_t count) {
    if (is("fail-load")) return ab_fail("I forgot");
    if (count != sizeof(memory)) return -1;
    memcpy(self, bytes, count);
    if (is("forget")) ((memory *)self)->steps = 0.0;
    return 0;
}

int main(int count, char **arguments) {
    static const ab_variable key[] = { { "steps", "", 0.0 } };
    static memory start;
    ab_driver driver;
    if (count > 1) way = arguments[1];
    if (is("crash-at-start")) abort();
    if (is("exit-at-start")) return 0;
    if (is("never-connect")) {
        for (;;) pause();
    }
    memset(&driver, 0, sizeof driver);
    driver.name = "rogue";
    driver.reset = reset;
    driver.step = step;
    driver.key = key;
    driver.key_count = 1;
    driver.state = &start;
    driver.state_bytes = sizeof start;
    driver.endpoint = getenv("ROGUE_ENDPOINT");
    if (is("fail-save") || is("fail-load") || is("forget")) driver.save = save, driver.load = load;
    return ab_serve(&driver);
}
