"""A small Gymnasium environment as a world."""

import gymnasium

from anabranch import gym

world = gym.world(
    lambda: gymnasium.make("CartPole-v1"),
    policy=lambda observation: int(observation[2] + 0.3 * observation[3] > 0),
    errors={"observation": {"none": 0, "tilted": [0, 0, 0.05, 0]}, "action": {"none": None, "stuck": lambda _: 0}},
    merge={"x": (lambda env: env.state[0], 0.1), "angle": (lambda env: env.state[2], 0.02, "rad")},
    danger=lambda env: abs(env.state[2]),
    violated={"falls": lambda env: abs(env.state[2]) > 0.2},
    steps=5,
)
