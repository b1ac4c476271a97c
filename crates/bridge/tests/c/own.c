/* A driver that saves itself: its memory is a list of what it saw, kept on the heap. */
#define ANABRANCH_IMPLEMENTATION
#include "anabranch.h"

typedef struct {
    double *values;
    size_t count;
} history;

static void clear(history *self) {
    free(self->values);
    self->values = NULL;
    self->count = 0;
}

#ifndef WITHOUT_RESET
static int reset(void *self, const ab_begin *begin) {
    (void)begin;
    clear((history *)self);
    return 0;
}
#endif

static int step(void *self, const ab_seen *seen, ab_decision *out) {
    history *h = (history *)self;
    size_t at;
    h->values = (double *)realloc(h->values, (h->count + 1) * sizeof *h->values);
    if (h->values == NULL) return ab_fail("out of memory");
    h->values[h->count++] = seen->path.lateral;
    for (at = 0; at < h->count; at++) out->steer += 0.01 * h->values[at];
    out->key[0] = (double)h->count;
    out->completed = h->count > 9;
    return 0;
}

static long save(void *self, void *into, size_t room) {
    history *h = (history *)self;
    size_t size = h->count * sizeof *h->values;
    if (size > 0 && size <= room) memcpy(into, h->values, size);
    return (long)size;
}

static int load(void *self, const void *bytes, size_t count) {
    history *h = (history *)self;
    if (count % sizeof *h->values != 0) return ab_fail("%lu bytes are no history", (unsigned long)count);
    clear(h);
    if (count == 0) return 0;
    h->values = (double *)malloc(count);
    if (h->values == NULL) return ab_fail("out of memory");
    memcpy(h->values, bytes, count);
    h->count = count / sizeof *h->values;
    return 0;
}

int main(void) {
    static const ab_variable key[] = { { "count", "", 0.0 } };
    history start = { NULL, 0 };
    ab_driver driver;
    int status;
    memset(&driver, 0, sizeof driver);
    driver.name = "history";
#ifndef WITHOUT_RESET
    driver.reset = reset;
#endif
    driver.step = step;
    driver.save = save;
    driver.load = load;
    driver.state = &start;
    driver.key = key;
    driver.key_count = 1;
    status = ab_serve(&driver);
    clear(&start);
    return status;
}
