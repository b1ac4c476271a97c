/* A complete simulator in C: an object slides along a line, pushed to either side; the walls are 1 m away.
 *
 *     cc -O2 -I ../../c toy_world.c -o toy_world -lm
 *     anabranch explore ./toy_world
 *
 * The memory is a global variable, as in much existing code: branches are processes (fork).
 */
#define ANABRANCH_IMPLEMENTATION
#include "anabranch.h"

#include <math.h>
#include <string.h>

enum { TICKS = 10 };
static const double PUSH[] = { 0.0, -0.3, 0.3 }, TICK_S = 0.1;
static double x, v;

static int reset(void *self, const ab_begin *begin) {
    (void)self;
    x = begin->param_count > 0 ? begin->params[0] : 0.0;
    v = 0.0;
    return 0;
}

static int run(void *self, const ab_run *run, ab_segment *out) {
    int tick;
    (void)self;
    for (tick = 0; tick < TICKS; tick++) {
        /* A weak spring pulls back to the middle. */
        v += (PUSH[run->modes[0]] - 0.2 * x - 0.1 * v) * TICK_S;
        x += v * TICK_S;
        out->margin = fmin(out->margin, 1.0 - fabs(x));
        ab_frame(out, &x);
    }
    out->values[0] = x;
    out->values[1] = v;
    out->danger = fabs(x);
    out->violated[0] = out->margin <= 0.0;
    out->notes[1] = out->margin < 0.1;
    return 0;
}

int main(void) {
    static const char *const modes[] = { "none", "left", "right" };
    static const ab_site sites[] = { { "push", modes, 3 } };
    static const ab_variable merge[] = { { "x", "m", 0.05 }, { "v", "m/s", 0.05 } };
    static const ab_variable signals[] = { { "x", "m", 0.0 } };
    static const char *const requirements[] = { "wall", "near-wall" };
    ab_world world;
    memset(&world, 0, sizeof world);
    world.name = "toy world in C";
    world.reset = reset;
    world.run = run;
    world.sites = sites;
    world.site_count = 1;
    world.merge = merge;
    world.merge_count = 2;
    world.requirements = requirements;
    world.requirement_count = 2;
    world.signals = signals;
    world.signal_count = 1;
    world.tick_s = TICK_S;
    world.segments_max = 8;
    return ab_serve_world(&world);
}
