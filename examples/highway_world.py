"""A Gymnasium world: highway-env's motorway, where the policy sees others too near or too far and brakes too weakly.

    pip install gymnasium highway-env
    anabranch explore examples/highway_world.py

The policy keeps its lane and its distance. Which misreadings in which seconds make it hit another car?
"""

import gymnasium
import highway_env  # noqa: F401  registers the environments

from anabranch import gym

SLOWER, IDLE, FASTER = 4, 1, 3
SETTINGS = {
    "observation": {"type": "Kinematics", "vehicles_count": 5, "normalize": False, "absolute": False},
    "action": {"type": "DiscreteMetaAction", "target_speeds": [0, 5, 10, 15, 20, 25, 30]},
    "lanes_count": 2,
    "vehicles_count": 10,
    "vehicles_density": 1.5,
    "duration": 20,
    "simulation_frequency": 6,
    "policy_frequency": 2,
}


def policy(observation):
    """Slower behind a car in the own lane that is nearer than two seconds; otherwise up to 28 m/s."""
    own_speed = observation[0][3]
    ahead = [row for row in observation[1:] if row[0] > 0 and row[1] > 0 and abs(row[2]) < 2]
    gap = min((row[1] for row in ahead), default=1000.0)
    if gap < 2.0 * own_speed:
        return SLOWER
    return FASTER if own_speed < 28 else IDLE


def scaled(factor):
    """Others appear nearer or farther than they are."""

    def alter(observation):
        seen = observation.copy()
        seen[1:, 1] *= factor
        return seen

    return alter


def speed(env):
    return env.vehicle.speed


def gap(env):
    """Metres to the car ahead in the own lane."""
    front, _ = env.road.neighbour_vehicles(env.vehicle)
    return 200.0 if front is None else float(front.position[0] - env.vehicle.position[0])


world = gym.world(
    lambda: gymnasium.make("highway-v0", config=SETTINGS),
    policy=policy,
    errors={
        "observation": {"none": None, "60 % farther": scaled(1.6), "30 % nearer": scaled(0.7)},
        "action": {"none": None, "does not brake": lambda action: IDLE if action == SLOWER else action},
    },
    merge={
        "x": (lambda env: env.vehicle.position[0], 2.0, "m"),
        "y": (lambda env: env.vehicle.position[1], 0.5, "m"),
        "speed": (speed, 1.0, "m/s"),
        "gap": (gap, 2.0, "m"),
    },
    danger=lambda env: -gap(env),
    violated={"no crash": lambda env: env.vehicle.crashed},
    name="highway",
    steps=2,
    segments=10,
    time_matters=True,
)

if __name__ == "__main__":
    import anabranch

    anabranch.serve(world)
