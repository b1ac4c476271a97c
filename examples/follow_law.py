"""A copy of the built-in path follower, bit for bit: the same findings, found through Python.

Only + - * / and the square root are used, in the order of the built-in law, so that every bit agrees. The arc tangent of
the standard library would differ in the last bit.
"""

import math

import anabranch

LATERAL_GAIN, HEADING_GAIN = 1.5, 2.0  # 1/m², 1/m, as in narrow-passage.toml
LATERAL_MAX = 0.5 * HEADING_GAIN / LATERAL_GAIN
CRUISE, ACCEL_MAX, DECEL, BRAKE_MAX = 1.0, 1.0, 0.6, 3.0
K_SPEED, K_STOP, STOP_TOLERANCE, STANDSTILL = 2.5, 1.2, 0.05, 0.05

# Rational approximation of atan on ±0.66 (Cephes).
P = [-8.750608600031904e-1, -1.615753718733365e1, -7.500855792314705e1, -1.2288666844901361e2, -6.485021904942025e1]
Q = [1.0, 2.4858464901423064e1, 1.6502700983169885e2, 4.328810604912903e2, 4.853903996359137e2, 1.945506571482614e2]
HALF_PI_REST = 6.123233995736766e-17


def horner(coefficients, z):
    total = coefficients[0]
    for coefficient in coefficients[1:]:
        total = total * z + coefficient
    return total


def atan(x):
    a = abs(x)
    if a > 2.414213562373095:
        u, base, rest = -1.0 / a, math.pi / 2, HALF_PI_REST
    elif a > 0.66:
        u, base, rest = (a - 1.0) / (a + 1.0), math.pi / 4, 0.5 * HALF_PI_REST
    else:
        u, base, rest = a, 0.0, 0.0
    z = u * u
    poly = u * (z * horner(P, z) / horner(Q, z)) + u
    return (base + (poly + rest)) * (-1.0 if x < 0.0 else 1.0)


def smaller(a, b):
    return a if a < b else b


def larger(a, b):
    return a if b < a else b


def clamp(x, low, high):
    return smaller(larger(x, low), high)


def accel(speed, remaining, speed_max):
    """Cruise, and stop where the way ends (speed along the gear)."""
    if remaining < STOP_TOLERANCE:
        return -DECEL
    if remaining < DECEL / (K_STOP * K_STOP):
        stopping = K_STOP * larger(remaining, 0.0)
    else:
        stopping = math.sqrt(larger(2.0 * DECEL * remaining - DECEL * DECEL / (K_STOP * K_STOP), 0.0))
    slows = stopping < CRUISE
    feed_forward = -clamp(K_STOP * speed, 0.0, DECEL) if slows else 0.0
    wanted = stopping if slows else CRUISE
    asked = feed_forward + K_SPEED * (wanted - speed)
    slowed = larger(K_SPEED * (speed_max - speed), -DECEL)
    return clamp(smaller(asked, slowed), -BRAKE_MAX, ACCEL_MAX)


class FollowLaw(anabranch.Driver):
    key = {"completed": None}  # all that it remembers
    cycle = 0.02
    constants = ["car"]  # not copied with every saved state

    def reset(self, begin):
        self.car = begin.car
        self.completed = False

    def step(self, seen):
        path, direction = seen.path, float(seen.path.direction)
        lateral = clamp(path.lateral, -LATERAL_MAX, LATERAL_MAX)
        correction = LATERAL_GAIN * lateral + HEADING_GAIN * direction * path.heading
        steer = atan(self.car.wheelbase_m * (path.curvature - correction))
        limit = self.car.steering_max_rad
        driven = accel(seen.speed * direction, path.remaining, path.speed_max)
        asked = -DECEL if self.completed else driven
        if path.sections_left == 0 and path.to_end < STOP_TOLERANCE and abs(seen.speed) < STANDSTILL:
            self.completed = True
        return anabranch.Command(steer=clamp(steer, -limit, limit), accel=asked, completed=self.completed)


if __name__ == "__main__":
    anabranch.serve(FollowLaw())
