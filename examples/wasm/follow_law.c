/* A copy of the built-in path follower as a WebAssembly module: every answer has the same bits.
 *
 *   clang --target=wasm32 -O2 -ffp-contract=off -mbulk-memory -nostdlib -I../../c -Wl,--no-entry -o follow_law.wasm follow_law.c
 *
 * -ffp-contract=off keeps the compiler from joining a product and a sum into one rounding. */
#include "anabranch_wasm.h"

ANABRANCH_DRIVER("{\"name\": \"follow_law\", \"version\": \"1\", \"cycle_s\": 0.02, \"key\": [{\"name\": \"completed\"}]}")

/* The calm gains, with the steering gains of the narrow passage. */
static const double LATERAL_GAIN = 1.5, HEADING_GAIN = 2.0, APPROACH_MAX_RAD = 0.5;
static const double CRUISE = 1.0, ACCEL_MAX = 1.0, DECEL = 0.6, BRAKE_MAX = 3.0;
static const double K_SPEED = 2.5, K_STOP = 1.2, STOP_TOLERANCE = 0.05, STANDSTILL = 0.05;

/* All that changes from run to run and from step to step. */
static double wheelbase, steering_max;
static int completed;

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return b < a ? a : b; }
static double within(double x, double low, double high) { return least(most(x, low), high); }

static double horner(const double *c, int count, double z) {
  double sum = c[0];
  for (int i = 1; i < count; i++) sum = sum * z + c[i];
  return sum;
}

/* Arc tangent as a rational function (Cephes), with + - * / only: the same bits everywhere. */
static double arc_tangent(double x) {
  static const double P[5] = {-8.750608600031904e-1, -1.615753718733365e1, -7.500855792314705e1,
                              -1.2288666844901361e2, -6.485021904942025e1};
  static const double Q[6] = {1.0, 2.4858464901423064e1, 1.6502700983169885e2,
                              4.328810604912903e2, 4.853903996359137e2, 1.945506571482614e2};
  const double half_pi = 1.57079632679489661923, rest_of_half_pi = 6.123233995736766e-17;
  double a = x < 0.0 ? -x : x, base = 0.0, rest = 0.0, over = a, under = 1.0;
  if (2.414213562373095 < a) {
    base = half_pi, rest = rest_of_half_pi, over = -1.0, under = a;
  } else if (0.66 < a) {
    base = 0.5 * half_pi, rest = 0.5 * rest_of_half_pi, over = a - 1.0, under = a + 1.0;
  }
  double u = over / under, z = u * u;
  double poly = u * (z * horner(P, 5, z) / horner(Q, 6, z)) + u;
  return (base + (poly + rest)) * (x < 0.0 ? -1.0 : 1.0);
}

/* Steering back to the path: the curvature of the path minus the correction for the deviation. */
static double steering(const ab_path *path) {
  double lateral_max = APPROACH_MAX_RAD * HEADING_GAIN / LATERAL_GAIN;
  double lateral = within(path->lateral, -lateral_max, lateral_max);
  double correction = LATERAL_GAIN * lateral + HEADING_GAIN * path->direction * path->heading;
  return within(arc_tangent(wheelbase * (path->curvature - correction)), -steering_max, steering_max);
}

/* Acceleration along the gear: cruise, stop where nothing remains, hold there. */
static double acceleration(double speed, double remaining, double speed_max) {
  double ramp = K_STOP * most(remaining, 0.0);
  double root = __builtin_sqrt(most(2.0 * DECEL * remaining - DECEL * DECEL / (K_STOP * K_STOP), 0.0));
  double stopping = remaining < DECEL / (K_STOP * K_STOP) ? ramp : root;
  int slows = stopping < CRUISE;
  double feed_forward = slows ? -within(K_STOP * speed, 0.0, DECEL) : 0.0;
  double accel = feed_forward + K_SPEED * ((slows ? stopping : CRUISE) - speed);
  double slowed = most(K_SPEED * (speed_max - speed), -DECEL);
  accel = within(least(accel, slowed), -BRAKE_MAX, ACCEL_MAX);
  return remaining < STOP_TOLERANCE ? -DECEL : accel;
}

int32_t anabranch_reset(const ab_begin *begin) {
  wheelbase = begin->car.wheelbase_m;
  steering_max = begin->car.steering_max_rad;
  completed = 0;
  return 0;
}

int32_t anabranch_step(const ab_seen *seen, ab_decision *decision) {
  const ab_path *path = &seen->path;
  double speed = seen->speed < 0.0 ? -seen->speed : seen->speed;
  decision->steer = steering(path);
  decision->accel = completed ? -DECEL : acceleration(seen->speed * path->direction, path->remaining, path->speed_max);
  /* The command of the arrival tick still drives. */
  if (path->sections_left == 0.0 && seen->to_end < STOP_TOLERANCE && speed < STANDSTILL) completed = 1;
  decision->completed = completed;
  decision->key[0] = completed;
  return 0;
}
