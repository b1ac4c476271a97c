"""Keeps its lane and its distance, and stops at red lights and stop signs; it does not change lanes and never yields.

    anabranch explore scenarios/highway-cut-in.toml --driver examples/lane_keeper.py
"""

import math

import anabranch

ACCEL, BRAKE, HEADWAY_S, STANDING_GAP = 1.5, 2.5, 1.2, 2.0  # the intelligent driver model (Treiber, Hennecke, Helbing 2000)


class LaneKeeper(anabranch.Driver):
    key = {"stood": None}  # all that it remembers: whether it has stood at the stop sign ahead
    constants = ["car", "front"]

    def reset(self, begin):
        self.car, self.front, self.stood = begin.car, begin.car.length_m - begin.car.rear_overhang_m, False

    def step(self, seen):
        road, speed, rows = seen.road, max(seen.speed, 0.0), seen.road.ahead
        stops = [line.ahead for line in road.lines if line.light in ("red", "red-amber")]
        signs = [line.ahead for line in road.lines[:1] if line.sign == "stop" and line.light is None]
        self.stood = bool(signs) and (self.stood or (signs[0] - self.front < 3.0 and speed < 0.1))
        leaders = [(ahead - self.front, 0.0) for ahead in (stops if self.stood else stops + signs)]
        for thing in seen.objects:  # objects in the lane ahead, seen from the nearest point on its middle
            place = min(range(len(rows)), key=lambda n: math.hypot(thing.x - rows[n].x, thing.y - rows[n].y))
            row = rows[place]
            cos, sin, dx, dy = math.cos(row.heading), math.sin(row.heading), thing.x - row.x, thing.y - row.y
            gap = place * road.step + cos * dx + sin * dy - 0.5 * thing.length - self.front
            if abs(cos * dy - sin * dx) < 0.5 * row.width and gap > -self.front:
                leaders.append((gap, thing.vx * cos + thing.vy * sin))
        accel = ACCEL * (1.0 - (speed / road.speed_limit) ** 4)
        for gap, other in leaders:
            wanted = STANDING_GAP + max(0.0, speed * HEADWAY_S + speed * (speed - other) / (2 * math.sqrt(ACCEL * BRAKE)))
            accel = min(accel, ACCEL * (1.0 - (speed / road.speed_limit) ** 4 - (wanted / max(gap, 0.1)) ** 2))
        look = 8.0 + speed  # metres: steers towards a point this far ahead
        bend = rows[0].curvature - 2.0 * (road.lateral / look + road.heading) / look
        return anabranch.Command(math.atan(self.car.wheelbase_m * bend), max(accel, -8.0), completed=road.route_left < 1.0)
