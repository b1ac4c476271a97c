/* Says back everything it was told about roads, number by number, through its key: a text by its length. */
#define ANABRANCH_IMPLEMENTATION
#include "anabranch.h"

#define NUMBERS 64

typedef struct {
    double told[NUMBERS];
    size_t begun, count;
} echo;

static void tell(echo *self, double value) {
    if (self->count < NUMBERS) self->told[self->count++] = value;
}

static void tell_text(echo *self, const char *text) { tell(self, text == NULL ? -1.0 : (double)strlen(text)); }

static void tell_beside(echo *self, const ab_beside *beside) {
    tell(self, beside != NULL);
    if (beside == NULL) return;
    tell_text(self, beside->lane);
    tell(self, beside->apart);
    tell(self, beside->may_change);
}

static int reset(void *state, const ab_begin *begin) {
    echo *self = (echo *)state;
    size_t at;
    memset(self, 0, sizeof *self);
    tell(self, (double)begin->leg_count);
    for (at = 0; at < begin->leg_count; at++) {
        tell_text(self, begin->route[at].lane);
        tell(self, begin->route[at].from_m);
        tell(self, begin->route[at].to_m);
        tell(self, begin->route[at].then);
    }
    self->begun = self->count;
    return 0;
}

static void tell_road(echo *self, const ab_road *road) {
    size_t at;
    tell_text(self, road->lane);
    tell(self, road->station);
    tell(self, road->lateral);
    tell(self, road->heading);
    tell(self, road->width);
    tell(self, road->speed_limit);
    tell_beside(self, road->left);
    tell_beside(self, road->right);
    tell(self, road->then);
    tell(self, road->then_in);
    tell(self, road->route_left);
    tell(self, (double)road->ahead_count);
    for (at = 0; at < road->ahead_count; at++) {
        tell(self, road->ahead[at].x);
        tell(self, road->ahead[at].y);
        tell(self, road->ahead[at].heading);
        tell(self, road->ahead[at].curvature);
        tell(self, road->ahead[at].width);
        tell(self, road->ahead[at].speed_limit);
    }
    tell(self, road->step);
    tell(self, (double)road->line_count);
    for (at = 0; at < road->line_count; at++) {
        tell(self, road->lines[at].ahead);
        tell(self, road->lines[at].sign);
        tell(self, road->lines[at].light);
    }
}

static int step(void *state, const ab_seen *seen, ab_decision *out) {
    echo *self = (echo *)state;
    size_t at;
    self->count = self->begun;
    for (at = 0; at < seen->object_count; at++) {
        tell(self, seen->objects[at].vx);
        tell(self, seen->objects[at].vy);
    }
    tell(self, seen->road != NULL);
    if (seen->road != NULL) tell_road(self, seen->road);
    for (at = 0; at < NUMBERS; at++) out->key[at] = at < self->count ? self->told[at] : 0.0;
    return 0;
}

int main(void) {
    static ab_variable key[NUMBERS];
    static char names[NUMBERS][8];
    static echo start;
    ab_driver driver;
    size_t at;
    for (at = 0; at < NUMBERS; at++) {
        sprintf(names[at], "k%lu", (unsigned long)at);
        key[at].name = names[at];
        key[at].unit = "";
    }
    memset(&driver, 0, sizeof driver);
    driver.name = "echo";
    driver.reset = reset;
    driver.step = step;
    driver.state = &start;
    driver.state_bytes = sizeof start;
    driver.key = key;
    driver.key_count = NUMBERS;
    return ab_serve(&driver);
}
