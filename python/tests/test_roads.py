"""What a driver is told about roads, by attribute and as arrays."""

from __future__ import annotations

import anabranch
from anabranch import numpy as arrays

from hosts import SEEN, on_road

LINES = [{"ahead": 12.0, "sign": "none", "light": "red"}, {"ahead": 40.0, "sign": "stop"}]
CAR = {"id": 7, "x": 70.0, "y": 0.1, "heading": 0.0, "speed": 5.0, "length": 4.5, "width": 1.8, "vx": 5.0, "vy": 0.5}


def test_a_road_is_read_by_attribute() -> None:
    seen = anabranch.Seen(on_road(lateral=0.2, lines=LINES, objects=[CAR]))
    road = seen.road
    assert road is not None
    assert (road.lane, road.station, road.lateral, road.width, road.speed_limit) == ("main.1", 50.0, 0.2, 3.5, 20.0)
    assert road.left is not None and (road.left.lane, road.left.apart, road.left.may_change) == ("main.2", 3.5, True)
    assert road.right is None
    assert (road.then, road.then_in, road.route_left, road.step) == ("straight on", 400.0, 400.0, 5.0)
    assert [(line.ahead, line.sign, line.light) for line in road.lines] == [(12.0, "none", "red"), (40.0, "stop", None)]
    assert len(road.ahead) == 21 and road.ahead[2] == (60.0, 0.0, 0.0, 0.0, 3.5, 20.0)
    assert road.ahead[2].speed_limit == 20.0
    assert (seen.objects[0].vx, seen.objects[0].vy) == (5.0, 0.5)


def test_a_row_ahead_may_grow_longer_in_a_later_host() -> None:
    seen = anabranch.Seen(on_road(ahead=[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]))
    assert seen.road is not None and seen.road.ahead == [(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]


def test_there_is_no_road_where_there_is_none() -> None:
    seen = anabranch.Seen(SEEN)
    assert seen.road is None and arrays.ahead(seen).shape == (0, 6)


def test_messages_and_tyres_are_read_where_a_scenario_has_helpers() -> None:
    told = {"id": 3, "x": 90.0, "y": 0.0, "heading": 0.0, "speed": 18.0, "accel": -6.0, "length": 4.6, "age": 0.15}
    tyres = {"fl": 1.0, "fr": 1.0, "rl": 0.5, "rr": 1.0, "warning": True}
    seen = anabranch.Seen({**on_road(), "radio": [told], "tyres": tyres})
    (heard,) = seen.radio
    assert (heard.id, heard.x, heard.speed, heard.accel, heard.age) == (3, 90.0, 18.0, -6.0, 0.15)
    assert seen.tyres is not None and seen.tyres.warning and seen.tyres.rl == 0.5
    without = anabranch.Seen(on_road())
    assert without.radio == [] and without.tyres is None


def test_a_route_begins_a_run() -> None:
    begin = anabranch.Begin({"route": [{"lane": "main.1", "from_m": 5.0, "to_m": 90.0, "then": "left"}]})
    (leg,) = begin.route
    assert (leg.lane, leg.from_m, leg.to_m, leg.then) == ("main.1", 5.0, 90.0, "left")
    assert anabranch.Begin({}).route == []


def test_roads_and_objects_become_arrays() -> None:
    seen = anabranch.Seen(on_road(objects=[CAR]))
    assert arrays.ahead(seen).shape == (21, 6) and arrays.ahead(seen)[4, 0] == 70.0
    assert arrays.objects(seen).tolist() == [[7.0, 70.0, 0.1, 0.0, 5.0, 4.5, 1.8, 5.0, 0.5]]
    assert arrays.vector(seen, ["road.lateral", "road.speed_limit"]).tolist() == [0.0, 20.0]
