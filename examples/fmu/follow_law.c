/* The built-in path follower as an FMU: the same law, the same bits.
 *
 * Steering: u = curvature - k_e e - k_psi d psi, steer = atan(L u). Speed: cruise, stop at a place, hold there.
 * Compile with -ffp-contract=off: fused operations would round differently. */
#include <math.h>

typedef struct {
    double lateral, heading, curvature, remaining, speed_max, direction, sections_left, speed, to_end; /* inputs, 1 to 9 */
    double steer, accel, completed;                                                                    /* outputs, 11 to 13 */
    double wheelbase, steering_max, k_lateral, k_heading;                                              /* parameters, 21 to 24 */
} Model;

/* Speed: the calm gains. */
static const double CRUISE = 1.0, ACCEL_MAX = 1.0, DECEL = 0.6, BRAKE_MAX = 3.0, K_SPEED = 2.5, K_STOP = 1.2, STOP_TOLERANCE = 0.05;
static const double STANDSTILL = 0.05, APPROACH_MAX = 0.5;

static double minimum(double a, double b) { return a < b ? a : b; }
static double maximum(double a, double b) { return b < a ? a : b; }
static double limit(double x, double low, double high) { return minimum(maximum(x, low), high); }

static double polynomial(const double *c, int count, double z) {
    double sum = c[0];
    for (int i = 1; i < count; i++) sum = sum * z + c[i];
    return sum;
}

/* Arc tangent with + - * / alone, as Anabranch computes it (after Cephes). */
static double arc_tangent(double x) {
    static const double P[5] = {-8.750608600031904e-1, -1.615753718733365e1, -7.500855792314705e1, -1.2288666844901361e2, -6.485021904942025e1};
    static const double Q[6] = {1.0, 2.4858464901423064e1, 1.6502700983169885e2, 4.328810604912903e2, 4.853903996359137e2, 1.945506571482614e2};
    const double half_pi = 1.5707963267948966, quarter_pi = 0.7853981633974483, rest_of_half_pi = 6.123233995736766e-17;
    double a = x < 0.0 ? -x : x;
    int far = 2.414213562373095 < a, middle = 0.66 < a;
    double u = far ? -1.0 / a : middle ? (a - 1.0) / (a + 1.0) : a / 1.0;
    double base = far ? half_pi : middle ? quarter_pi : 0.0;
    double rest = far ? rest_of_half_pi : middle ? 0.5 * rest_of_half_pi : 0.0;
    double z = u * u;
    double sum = u * (z * polynomial(P, 5, z) / polynomial(Q, 6, z)) + u;
    return (base + (sum + rest)) * (x < 0.0 ? -1.0 : 1.0);
}

static double steering(const Model *m) {
    double lateral_max = APPROACH_MAX * m->k_heading / m->k_lateral;
    double lateral = limit(m->lateral, -lateral_max, lateral_max);
    double correction = m->k_lateral * lateral + m->k_heading * m->direction * m->heading;
    return limit(arc_tangent(m->wheelbase * (m->curvature - correction)), -m->steering_max, m->steering_max);
}

static double acceleration(double speed, double remaining, double speed_max) {
    double ramp = K_STOP * maximum(remaining, 0.0);
    double root = sqrt(maximum(2.0 * DECEL * remaining - DECEL * DECEL / (K_STOP * K_STOP), 0.0));
    double stopping = remaining < DECEL / (K_STOP * K_STOP) ? ramp : root;
    int slows = stopping < CRUISE;
    double feed_forward = slows ? -limit(K_STOP * speed, 0.0, DECEL) : 0.0;
    double wanted = slows ? stopping : CRUISE;
    double accel = feed_forward + K_SPEED * (wanted - speed);
    double slowed = maximum(K_SPEED * (speed_max - speed), -DECEL);
    accel = limit(minimum(accel, slowed), -BRAKE_MAX, ACCEL_MAX);
    return remaining < STOP_TOLERANCE ? -DECEL : accel;
}

static void model_start(Model *m) {
    m->direction = 1.0;
    m->wheelbase = 3.0;
    m->steering_max = 0.6;
    m->k_lateral = 1.5;
    m->k_heading = 2.0;
}

static double *model_real(Model *m, unsigned reference) {
    double *inputs[] = {&m->lateral, &m->heading, &m->curvature, &m->remaining, &m->speed_max, &m->direction, &m->sections_left, &m->speed, &m->to_end};
    double *outputs[] = {&m->steer, &m->accel, &m->completed};
    double *parameters[] = {&m->wheelbase, &m->steering_max, &m->k_lateral, &m->k_heading};
    if (1 <= reference && reference <= 9) return inputs[reference - 1];
    if (11 <= reference && reference <= 13) return outputs[reference - 11];
    if (21 <= reference && reference <= 24) return parameters[reference - 21];
    return 0;
}

static int model_step(Model *m, double time, double length) {
    (void)time;
    (void)length;
    m->steer = steering(m);
    m->accel = m->completed != 0.0 ? -DECEL : acceleration(m->speed * m->direction, m->remaining, m->speed_max);
    /* The command of the arrival tick still drives. */
    if (m->sections_left == 0.0 && m->to_end < STOP_TOLERANCE && (m->speed < 0.0 ? -m->speed : m->speed) < STANDSTILL) m->completed = 1.0;
    return 0;
}

#include "fmi.h"
