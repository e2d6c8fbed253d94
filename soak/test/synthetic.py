"""Synthetic series with a known answer. Each is a function of a random generator: (times, values, known breaks).

The values are kilobytes around 60 MB, as the PSS of a small pool of workers is; 80 points a quarter of a second
apart, as in a soak of 20 s.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

POINTS = 80
PERIOD_S = 0.25
LEVEL_KB = 60_000.0
NOISE_KB = 300.0

Series = tuple[np.ndarray, np.ndarray, list[float]]
Maker = Callable[[np.random.Generator], Series]


def times() -> np.ndarray:
    return np.arange(POINTS) * PERIOD_S


def white(rng: np.random.Generator) -> np.ndarray:
    return LEVEL_KB + rng.normal(0, NOISE_KB, POINTS)


def autoregressive(rng: np.random.Generator, rho: float, sigma: float) -> np.ndarray:
    shocks = rng.normal(0, sigma * np.sqrt(1 - rho**2), POINTS)
    values = np.empty(POINTS)
    values[0] = rng.normal(0, sigma)
    for i in range(1, POINTS):
        values[i] = rho * values[i - 1] + shocks[i]
    return LEVEL_KB + values


def ramp(rng: np.random.Generator) -> np.ndarray:
    """A leak of 6 to 20 MB over the run."""
    return rng.uniform(6_000, 20_000) * times() / times()[-1]


def spikes(rng: np.random.Generator) -> np.ndarray:
    """Now and then a sample is taken while a worker holds a big answer."""
    return np.where(rng.random(POINTS) < 0.02, rng.uniform(4_000, 16_000, POINTS), 0)


def somewhere(rng: np.random.Generator) -> float:
    return float(rng.uniform(0.3, 0.7) * times()[-1])


def noise(rng: np.random.Generator) -> Series:
    return times(), white(rng), []


def wandering_noise(rng: np.random.Generator) -> Series:
    return times(), autoregressive(rng, 0.5, 600), []


def slowly_wandering_noise(rng: np.random.Generator) -> Series:
    return times(), autoregressive(rng, 0.8, 1500), []


def walk(rng: np.random.Generator) -> Series:
    """Up or down by chance, and never back to a level: the hardest case for a test of trend."""
    return times(), LEVEL_KB + np.cumsum(rng.normal(0, 250, POINTS)), []


def outliers(rng: np.random.Generator) -> Series:
    return times(), white(rng) + spikes(rng), []


def step(rng: np.random.Generator) -> Series:
    at, size = somewhere(rng), rng.uniform(4_000, 20_000)
    return times(), white(rng) + np.where(times() > at, size, 0), []


def two_steps(rng: np.random.Generator) -> Series:
    first, second = 0.3 * times()[-1], 0.7 * times()[-1]
    size = rng.uniform(4_000, 10_000)
    return times(), white(rng) + size * (times() > first) + size * (times() > second), []


def long_warmup(rng: np.random.Generator) -> Series:
    tau = rng.uniform(0.03, 0.12) * times()[-1]
    return times(), white(rng) + 12_000 * (1 - np.exp(-times() / tau)), []


def sawtooth(rng: np.random.Generator) -> Series:
    period = rng.uniform(0.1, 0.35) * times()[-1]
    phase = rng.uniform(0, period)
    return times(), white(rng) + 12_000 * ((times() + phase) % period) / period, []


def restart(rng: np.random.Generator) -> Series:
    """A known restart: memory falls, and warms up again within a second or two."""
    at = somewhere(rng)
    dip = np.where(times() >= at, 20_000 * np.exp(-(times() - at).clip(0) / 0.7), 0)
    return times(), white(rng) - dip, [at]


def unannounced_restart(rng: np.random.Generator) -> Series:
    return times(), white(rng) - np.where(times() > somewhere(rng), 8_000, 0), []


def mostly_tied(rng: np.random.Generator) -> Series:
    """Open files: nearly always 40, sometimes one more."""
    return times(), 40 + (rng.random(POINTS) < 0.1).astype(float), []


def constant(rng: np.random.Generator) -> Series:
    return times(), np.full(POINTS, 40.0), []


def leak(rng: np.random.Generator) -> Series:
    return times(), white(rng) + ramp(rng), []


def leak_in_wandering_noise(rng: np.random.Generator) -> Series:
    return times(), autoregressive(rng, 0.5, 600) + ramp(rng), []


def bending_leak(rng: np.random.Generator) -> Series:
    """What a real leak looked like: hardly any noise, only upwards, and faster at first than later."""
    share = times() / times()[-1]
    growth = rng.uniform(5_000, 15_000) * share ** rng.uniform(0.6, 0.9)
    return times(), LEVEL_KB + growth + np.cumsum(rng.exponential(20, POINTS)), []


def leak_with_outliers(rng: np.random.Generator) -> Series:
    return times(), white(rng) + ramp(rng) + spikes(rng), []


def leak_across_restart(rng: np.random.Generator) -> Series:
    at, per_s = somewhere(rng), rng.uniform(8_000, 20_000) / times()[-1]
    since = np.where(times() >= at, times() - at, times())
    return times(), white(rng) + per_s * since, [at]


def leak_across_unannounced_restart(rng: np.random.Generator) -> Series:
    t, y, _ = leak_across_restart(rng)
    return t, y, []


def leak_under_sawtooth(rng: np.random.Generator) -> Series:
    period = rng.uniform(0.08, 0.13) * times()[-1]
    teeth = 6_000 * ((times() + rng.uniform(0, period)) % period) / period
    return times(), white(rng) + teeth + 15_000 * times() / times()[-1], []


def tied_leak(rng: np.random.Generator) -> Series:
    """Open files that are never closed: a staircase of 12 to 30 steps of one."""
    return times(), 40 + np.floor(times() / times()[-1] * rng.uniform(12, 30)), []
