/* A copy of the built-in path follower in C: the same bits, so the same findings.
 *
 * Build without fused multiply-add, which would change the last bit:
 *     cc -O2 -ffp-contract=off -I ../../c follow_law.c -o follow_law -lm
 *     anabranch explore follow_law.toml
 */
#define ANABRANCH_IMPLEMENTATION
#include "anabranch.h"

#include <math.h>
#include <string.h>

/* Gains of narrow-passage; all others are those of the calm built-in driver. */
static const double LATERAL_GAIN = 1.5, HEADING_GAIN = 2.0, APPROACH_MAX_RAD = 0.5;
static const double CRUISE = 1.0, ACCEL_MAX = 1.0, COMFORT_DECEL = 0.6, BRAKE_MAX = 3.0;
static const double SPEED_GAIN = 2.5, STOP_GAIN = 1.2, STOP_TOLERANCE = 0.05, STANDSTILL = 0.05;

/* The whole memory; plain numbers, so that a copy is a snapshot. */
typedef struct {
    double wheelbase_m, steering_max_rad;
    double completed;
} follow;

static double larger(double a, double b) { return b < a ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }
static double clamp(double x, double low, double high) { return smaller(larger(x, low), high); }

static double horner(const double *coefficients, int count, double z) {
    double sum = coefficients[0];
    int at;
    for (at = 1; at < count; at++) sum = sum * z + coefficients[at];
    return sum;
}

/* Arc tangent from + - * / alone (Cephes): the same bits as Anabranch's own on every machine. */
static double arc_tangent(double x) {
    static const double P[5] = { -8.750608600031904e-1, -1.615753718733365e1, -7.500855792314705e1, -1.2288666844901361e2, -6.485021904942025e1 };
    static const double Q[6] = { 1.0, 2.4858464901423064e1, 1.6502700983169885e2, 4.328810604912903e2, 4.853903996359137e2, 1.945506571482614e2 };
    const double rest_of_half_pi = 6.123233995736766e-17;
    const double a = fabs(x), sign = x < 0.0 ? -1.0 : 1.0;
    const int far = a > 2.414213562373095, middle = a > 0.66;
    const double numerator = far ? -1.0 : middle ? a - 1.0 : a;
    const double denominator = far ? a : middle ? a + 1.0 : 1.0;
    const double base = far ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0.0;
    const double rest = far ? rest_of_half_pi : middle ? 0.5 * rest_of_half_pi : 0.0;
    const double u = numerator / denominator, z = u * u;
    const double poly = u * (z * horner(P, 5, z) / horner(Q, 6, z)) + u;
    return (base + (poly + rest)) * sign;
}

static double steering(const follow *self, const ab_path_seen *path) {
    const double lateral_max = APPROACH_MAX_RAD * HEADING_GAIN / LATERAL_GAIN;
    const double lateral = clamp(path->lateral, -lateral_max, lateral_max);
    const double correction = LATERAL_GAIN * lateral + HEADING_GAIN * (double)path->direction * path->heading;
    const double angle = arc_tangent(self->wheelbase_m * (path->curvature - correction));
    return clamp(angle, -self->steering_max_rad, self->steering_max_rad);
}

/* Cruise; stop where the path ends; hold there. */
static double acceleration(double speed, double remaining, double speed_max) {
    const double ramp = STOP_GAIN * larger(remaining, 0.0);
    const double offset = COMFORT_DECEL * COMFORT_DECEL / (STOP_GAIN * STOP_GAIN);
    const double root = sqrt(larger(2.0 * COMFORT_DECEL * remaining - offset, 0.0));
    const double stopping = remaining < COMFORT_DECEL / (STOP_GAIN * STOP_GAIN) ? ramp : root;
    const int slows = stopping < CRUISE;
    const double feed_forward = slows ? -clamp(STOP_GAIN * speed, 0.0, COMFORT_DECEL) : 0.0;
    const double wanted = slows ? stopping : CRUISE;
    const double accel = feed_forward + SPEED_GAIN * (wanted - speed);
    const double slowed = larger(SPEED_GAIN * (speed_max - speed), -COMFORT_DECEL);
    if (remaining < STOP_TOLERANCE) return -COMFORT_DECEL;
    return clamp(smaller(accel, slowed), -BRAKE_MAX, ACCEL_MAX);
}

static int reset(void *memory, const ab_begin *begin) {
    follow *self = (follow *)memory;
    self->wheelbase_m = begin->car.wheelbase_m;
    self->steering_max_rad = begin->car.steering_max_rad;
    self->completed = 0.0;
    return begin->car.wheelbase_m > 0.0 ? 0 : ab_fail("a car without a wheelbase");
}

static int step(void *memory, const ab_seen *seen, ab_decision *out) {
    follow *self = (follow *)memory;
    const ab_path_seen *path = &seen->path;
    const double driven = acceleration(seen->speed * (double)path->direction, path->remaining, path->speed_max);
    out->steer = steering(self, path);
    out->accel = self->completed > 0.0 ? -COMFORT_DECEL : driven;
    if (path->sections_left == 0 && path->to_end < STOP_TOLERANCE && fabs(seen->speed) < STANDSTILL) self->completed = 1.0;
    out->completed = self->completed > 0.0;
    out->key[0] = self->completed;
    return 0;
}

int main(void) {
    static const ab_variable key[] = { { "completed", "", 0.0 } };
    static follow start;
    ab_driver driver;
    memset(&driver, 0, sizeof driver);
    driver.name = "follow law in C";
    driver.version = "1";
    driver.reset = reset;
    driver.step = step;
    driver.key = key;
    driver.key_count = 1;
    driver.cycle_s = 0.02;
    driver.state = &start;
    driver.state_bytes = sizeof start;
    return ab_serve(&driver);
}
