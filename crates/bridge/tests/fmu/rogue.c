/* A driver with a memory that misbehaves in the way that its parameter `mode` says, in step number `at`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
    double lateral, speed;                /* inputs, 1 and 2 */
    double steer, accel, gear, completed; /* outputs, 11 to 14 */
    double sum, steps;                    /* memory, 15 and 16 */
    double mode, at;                      /* parameters, 21 and 22 */
#ifdef MODEL_HAS_ADDRESS
    void *self;
#endif
} Model;

static int hidden; /* not part of the state */

static void model_start(Model *m) {
    m->at = 3;
#ifdef MODEL_HAS_ADDRESS
    m->self = m;
#endif
}

static double *model_real(Model *m, unsigned reference) {
    double *variables[] = {&m->lateral, &m->speed, 0, 0, 0, 0, 0, 0, 0, 0, &m->steer, &m->accel, &m->gear, &m->completed, &m->sum, &m->steps, 0, 0, 0, 0, &m->mode, &m->at};
    return 1 <= reference && reference <= 22 ? variables[reference - 1] : 0;
}

static void say(Model *m, int number);
static void say_much(Model *m);

static int deeper(int depth) {
    volatile char filled[4096];
    filled[depth % 4096] = (char)depth;
    return deeper(depth + 1) + filled[0];
}

/* Bytes that are no message, to whatever this process is connected with. */
static void garbage(void) {
    for (int file = 3; file < 64; file++) send(file, "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377", 16, MSG_NOSIGNAL);
}

static void deadlock(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}

static int grandchild(void) {
    if (fork() == 0) { for (;;) pause(); }
    _exit(0);
}

static int free_twice(void) {
    void *volatile memory = malloc(100);
    free(memory);
    free(memory);
    return 0;
}

static int misbehave(Model *m) {
    switch ((int)m->mode) {
    case 1: *(volatile int *)8 = 1; return 0;
    case 2: abort();
    case 3: exit(0);
    case 4: for (;;) hidden++;
    case 5: m->steer = 0.0 / (m->lateral - m->lateral); return 0;
    case 6: return 2; /* discard */
    case 7: say(m, 7); return 3; /* error */
    case 8: return 4; /* fatal */
    case 9: return 77;
    case 10: for (;;) say(m, 10);
    case 11: m->gear = 7; return 0;
    case 12: m->accel = 1e308 * 10; return 0;
    case 13: for (;;) { size_t size = 16 << 20; volatile char *p = malloc(size); if (p) for (size_t i = 0; i < size; i += 4096) p[i] = 1; }
    case 14: for (;;) puts("standard output belongs to nobody");
    case 15: m->steer = 100; return 0;
    case 16: m->steer += hidden++; return 0;
    case 17: return deeper(0) & 0;
    case 18: m->completed = 0.0 / (m->lateral - m->lateral); return 0;
    case 19: raise(SIGSTOP); return 0;
    case 20: return grandchild();
    case 21: raise(SIGKILL); return 0;
    case 22: for (;;) { signal(SIGTERM, SIG_IGN); pause(); }
    case 23: deadlock(); return 0;
    case 24: for (;;) fputs("standard error neither\n", stderr);
    case 25: m->accel = -1e6; return 0;
    case 26: return free_twice();
    case 27: { volatile int seven = 7, zero = 0; return seven / zero; }
    case 28: return execl("/bin/true", "true", (char *)0);
    case 29: garbage(); return 0;
    case 30: for (int file = 3; file < 256; file++) close(file); return 0;
    case 35: say_much(m); return 3;
    case 36: m->steps = 0.0 / (m->lateral - m->lateral); return 0;
    default: return 0;
    }
}

static int model_step(Model *m, double time, double length) {
    (void)time;
    m->sum += m->lateral * length;
    m->steps += 1;
    m->steer = 0.01 * m->sum;
    m->accel = -m->speed;
    return m->steps >= m->at ? misbehave(m) : 0;
}

/* States that are promised and not given. */
#define MODEL_AFTER_GET(c, state)                                                   \
    switch ((int)((Component *)(c))->model.mode) {                                  \
    case 31: free(*(state)); *(state) = NULL; return FMI_OK;                        \
    case 32: free(*(state)); *(state) = NULL; return FMI_ERROR;                     \
    }
#define MODEL_BEFORE_SET(c, state)                                                  \
    switch ((int)((Component *)(c))->model.mode) {                                  \
    case 33: return FMI_OK;                                                         \
    case 34: return FMI_ERROR;                                                      \
    }

#include "fmi.h"

static void say(Model *m, int number) {
    Component *c = (Component *)m;
    if (c->logger) c->logger(c->environment, "rogue", FMI_ERROR, "logStatusError", "mode %d after %g steps, %s", number, m->steps, "so there");
    if (c->logger3) c->logger3(c->environment, FMI_ERROR, "logStatusError", "mode 7 after 3 steps, so there");
}

/* Longer than any line, with what would clear a screen, and a number as wide as memory. */
static void say_much(Model *m) {
    Component *c = (Component *)m;
    static char text[1 << 20];
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "\033[2J", 4);
    if (c->logger) c->logger(c->environment, "rogue", FMI_ERROR, "logStatusError", "%s %999999999d", text, 1);
    if (c->logger3) c->logger3(c->environment, FMI_ERROR, "logStatusError", text);
}
