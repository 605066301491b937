"""Floats as text: the fewest digits that tell them apart, or as many as asked for. Pure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_MANTISSA_BITS = {32: 23, 64: 52}
_LEAST_EXPONENT = {32: -149, 64: -1074}


class Digits(NamedTuple):
    """A positive number: 0.digits times ten to the power of `point`."""

    digits: str
    point: int


def shortest(value: float, bits: int) -> Digits:
    """The fewest digits that no other float of that size has."""
    number: np.float32 | np.float64 = np.float32(abs(value)) if bits == 32 else np.float64(abs(value))
    mantissa, _, exponent = np.format_float_scientific(number, unique=True, trim="-").partition("e")
    digits = mantissa.replace(".", "").rstrip("0")
    return Digits(digits, int(exponent) + 1) if digits else Digits("0", 1)


def written(value: float, bits: int, verb: str, precision: int | None) -> str:
    """A float by one of the verbs b e E f g G x X, without a plus sign; no precision means the fewest digits."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    match verb:
        case "b":
            return sign + _binary(abs(value), bits)
        case "x" | "X":
            found = sign + _hexadecimal(abs(value), precision)
            return found.upper() if verb == "X" else found
        case _:
            found = sign + _decimal(abs(value), bits, verb.lower(), precision)
            return found.upper() if verb in "EG" else found


def _decimal(value: float, bits: int, verb: str, precision: int | None) -> str:
    if precision is not None:
        return format(value, f".{precision}{verb}")  # Python and Go agree on it
    found = shortest(value, bits)
    if verb == "e" or (verb == "g" and not -4 <= found.point - 1 < 6 and value):
        return _with_exponent(found)
    return _plain(found)


def _with_exponent(found: Digits) -> str:
    mantissa = found.digits[0] + ("." + found.digits[1:] if len(found.digits) > 1 else "")
    exponent = found.point - 1
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def _plain(found: Digits) -> str:
    if found.point <= 0:
        return "0." + "0" * -found.point + found.digits
    whole = found.digits[: found.point].ljust(found.point, "0")
    rest = found.digits[found.point :]
    return f"{whole}.{rest}" if rest else whole


def _binary(value: float, bits: int) -> str:
    """A whole mantissa and the power of two it is multiplied by."""
    wanted = _MANTISSA_BITS[bits]
    exponent = math.frexp(value)[1]
    power = max(exponent - wanted - 1, _LEAST_EXPONENT[bits]) if value else _LEAST_EXPONENT[bits]
    return f"{int(math.ldexp(value, -power))}p{power:+d}"


def _hexadecimal(value: float, precision: int | None) -> str:
    if value == 0:
        zeros = "." + "0" * precision if precision else ""
        return f"0x0{zeros}p+00"
    mantissa, exponent = math.frexp(value)
    scaled = int(math.ldexp(mantissa, 53))  # 1 and 52 bits behind the point
    if precision is not None and precision < 13:
        scaled = _rounded(scaled, 52 - 4 * precision)
        if scaled >> 53:
            scaled, exponent = scaled >> 1, exponent + 1
    digits = f"{scaled & ((1 << 52) - 1):013x}"
    digits = digits.rstrip("0") if precision is None else digits.ljust(precision, "0")[:precision]
    power = exponent - 1
    return f"0x1{'.' + digits if digits else ''}p{'-' if power < 0 else '+'}{abs(power):02}"


def _rounded(scaled: int, dropped_bits: int) -> int:
    """Rounded to the nearest multiple of two to that power, in the middle to the even one."""
    half, unit = 1 << (dropped_bits - 1), 1 << dropped_bits
    kept, rest = scaled // unit, scaled % unit
    if rest > half or (rest == half and kept & 1):
        kept += 1
    return kept * unit
