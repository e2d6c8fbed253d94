"""Colour arithmetic of the tests: contrast (WCAG 2), and distance as seen with a colour vision deficiency (Machado et al., 2009)."""

from __future__ import annotations

import re

import numpy

Colour = tuple[float, float, float]
VISION = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
}
TO_XYZ = numpy.array(((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)))
WHITE = numpy.array((0.9505, 1.0, 1.089))


def parse(text: str) -> Colour:
    red, green, blue = (float(part) for part in re.findall(r"[\d.]+", text)[:3])
    return red, green, blue


def linear(colour: Colour) -> numpy.ndarray:
    value = numpy.array(colour) / 255
    return numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one: Colour, other: Colour) -> float:
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: Colour, vision: str) -> numpy.ndarray:
    seen = numpy.clip(numpy.array(VISION[vision]) @ linear(colour), 0, 1)
    share = TO_XYZ @ seen / WHITE
    x, y, z = numpy.where(share > 0.008856, numpy.cbrt(share), 7.787 * share + 16 / 116)
    return numpy.array((116 * y - 16, 500 * (x - y), 200 * (y - z)))


def distance(one: Colour, other: Colour, vision: str) -> float:
    return float(numpy.linalg.norm(lab(one, vision) - lab(other, vision)))
