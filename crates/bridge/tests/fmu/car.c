/* The built-in car once more, as an FMU: with ACTUATOR its steering and its drive with their lags and limits, else the whole
 * car. The same operations in the same order, so the same bits; compile with -ffp-contract=off. */
#include <math.h>

typedef struct {
    double steer_command, accel_command, gear;           /* inputs, 1 to 3 */
    double now_speed, now_steer, now_accel;              /* inputs of an actuator, 4 to 6 */
    double x, y, heading, speed, steer, accel;           /* outputs, 11 to 16; of a plant, all that it remembers */
    double start_x, start_y, start_heading, start_speed; /* parameters, 21 to 24 */
    double wheelbase, steering_max, steering_rate;       /* 25 to 27 */
    double steering_share, accel_share, accel_max, brake_max; /* 28 to 31 */
    double began, wrong_from, steps;                     /* 32 is a parameter: from this step on it gives no numbers */
} Model;

static double maximum(double a, double b) { return b < a ? a : b; }
static double minimum(double a, double b) { return a < b ? a : b; }
static double limit(double x, double low, double high) { return minimum(maximum(x, low), high); }

static double steered(const Model *m, double steer, double length) {
    double wanted = limit(m->steer_command, -m->steering_max, m->steering_max), step = m->steering_rate * length;
    return limit(steer + limit((wanted - steer) * m->steering_share, -step, step), -m->steering_max, m->steering_max);
}

/* Along the gear. */
static double accelerated(const Model *m, double speed, double accel) {
    double wanted = limit(m->accel_command, -m->brake_max, m->accel_max);
    if (speed < 0.0) wanted = fabs(wanted);
    return accel + (wanted - accel) * m->accel_share;
}

#ifndef ACTUATOR
static double polynomial(const double *c, int count, double z) {
    double sum = c[0];
    for (int i = 1; i < count; i++) sum = sum * z + c[i];
    return sum;
}

/* Sine and cosine with + - * / alone, as Anabranch computes them (after fdlibm). */
static void sine_cosine(double angle, double *sine, double *cosine) {
    static const double SIN[6] = {1.58969099521155e-10, -2.5050760253406863e-8, 2.7557313707070068e-6, -1.984126982985795e-4, 8.33333333332249e-3, -1.6666666666666632e-1};
    static const double COS[6] = {-1.1359647557788195e-11, 2.087572321298175e-9, -2.7557314351390663e-7, 2.480158728947673e-5, -1.388888888887411e-3, 4.16666666666666e-2};
    const double round = 6755399441055744.0;
    volatile double shifted = angle * (1.0 / 1.5707963267948966) + round;
    double k = shifted - round;
    double r = ((angle - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21, z = r * r;
    double s = r + r * z * polynomial(SIN, 6, z), c = (1.0 - 0.5 * z) + z * z * polynomial(COS, 6, z);
    int quadrant = (int)(k - 4.0 * floor(k * 0.25)), odd = quadrant == 1 || quadrant == 3;
    *sine = odd ? c : s;
    *cosine = odd ? s : c;
    if (quadrant >= 2) *sine = -*sine;
    if (quadrant == 1 || quadrant == 2) *cosine = -*cosine;
}

static double tangent(double angle) {
    double sine, cosine;
    sine_cosine(angle, &sine, &cosine);
    return sine / cosine;
}

static void moved(Model *m, double length) {
    double gear = m->gear, speed = m->speed * gear;
    double steer = steered(m, m->steer, length), accel = accelerated(m, speed, m->accel);
    double next = speed + accel * length;
    int stands = speed < 0.0 ? 0.0 <= next : next <= 0.0;
    next = (stands ? 0.0 : next) * gear;
    m->accel = stands ? 0.0 : accel;
    double way = 0.5 * (m->speed + next) * length;
    double turn = way * (1.0 / m->wheelbase) * tangent(0.5 * (m->steer + steer));
    m->heading = m->heading + turn;
    double sine, cosine, h = 0.5 * turn, z = h * h;
    sine_cosine(m->heading, &sine, &cosine);
    double half_sine = h * (1.0 - z * (1.0 / 6.0 - z * (1.0 / 120.0))), half_cosine = 1.0 - z * (0.5 - z * (1.0 / 24.0 - z * (1.0 / 720.0)));
    m->x = m->x + way * (cosine * half_cosine + sine * half_sine);
    m->y = m->y + way * (sine * half_cosine - cosine * half_sine);
    m->speed = next;
    m->steer = steer;
}
#endif

static void model_start(Model *m) { m->wheelbase = 1.0; }

static double *model_real(Model *m, unsigned reference) {
    double *inputs[] = {&m->steer_command, &m->accel_command, &m->gear, &m->now_speed, &m->now_steer, &m->now_accel};
    double *outputs[] = {&m->x, &m->y, &m->heading, &m->speed, &m->steer, &m->accel};
    double *parameters[] = {&m->start_x, &m->start_y, &m->start_heading, &m->start_speed, &m->wheelbase, &m->steering_max, &m->steering_rate,
                            &m->steering_share, &m->accel_share, &m->accel_max, &m->brake_max, &m->wrong_from};
    if (1 <= reference && reference <= 6) return inputs[reference - 1];
    if (11 <= reference && reference <= 16) return outputs[reference - 11];
    if (21 <= reference && reference <= 32) return parameters[reference - 21];
    return 0;
}

static int model_step(Model *m, double time, double length) {
    (void)time;
    if (m->began == 0.0) {
        m->began = 1.0;
        m->x = m->start_x, m->y = m->start_y, m->heading = m->start_heading, m->speed = m->start_speed;
    }
#ifdef ACTUATOR
    m->steer = steered(m, m->now_steer, length);
    m->accel = accelerated(m, m->now_speed * m->gear, m->now_accel);
#else
    moved(m, length);
#endif
    m->steps += 1.0;
    if (m->wrong_from != 0.0 && m->wrong_from <= m->steps) m->steer = NAN;
    return 0;
}

#include "fmi.h"
