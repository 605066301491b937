"""Calendar and clock of moments, for any year, in any zone. Pure but for the machine's zone, which is the system's."""

from __future__ import annotations

import time
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from warren.notify.templates.errors import Failure, Problem
from warren.notify.templates.values import Moment, Offset, Zone

DAY_S = 86_400
_DAYS_BEFORE_1970 = 719_468  # since 1 March of the year 0, from where leap days come last
_DAYS_IN_400_YEARS = 146_097
_YEAR_LIMIT = 100_000
ZERO_S = -62_135_596_800
"""The zero time of Go: 1 January of the year 1."""
_FIRST_S, _LAST_S = ZERO_S + DAY_S, 253_402_000_000
"""The years that Python has; before and after them a zone is taken to be as at their ends."""


class Clock(NamedTuple):
    """What calendar and clock say at a moment in its zone; Sunday is weekday 0."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    weekday: int
    year_day: int
    offset: Offset


UTC_ZONE = Zone("UTC", lambda _: Offset(0, "UTC"))


def _machine_offset(seconds: int) -> Offset:
    try:
        there = time.localtime(seconds)
    except (OverflowError, OSError):  # beyond what the system can tell
        there = time.localtime(ZERO_S)
    return Offset(there.tm_gmtoff, there.tm_zone)


MACHINE_ZONE = Zone("Local", _machine_offset)


def named_zone(name: str) -> Zone:
    """A zone of the time zone database as the local one."""
    zone = ZoneInfo(name)

    def at(seconds: int) -> Offset:
        there = datetime.fromtimestamp(min(max(seconds, _FIRST_S), _LAST_S), zone)
        offset = there.utcoffset()
        return Offset(int(offset.total_seconds()) if offset else 0, there.tzname() or "")

    return Zone("Local", at)


def zero_time(local: Zone) -> Moment:
    """The time of an incident that there is not."""
    return Moment(ZERO_S, 0, UTC_ZONE, local)


def is_zero(moment: Moment) -> bool:
    """Whether it is the zero time."""
    return moment.seconds == ZERO_S and moment.nanos == 0


def at_ms(milliseconds: int, local: Zone) -> Moment:
    """A moment in the local zone."""
    seconds, rest_ms = divmod(milliseconds, 1000)
    return Moment(seconds, rest_ms * 1_000_000, local, local)


def unix_nanos(moment: Moment) -> int:
    """Nanoseconds since 1970."""
    return moment.seconds * 1_000_000_000 + moment.nanos


def clock(moment: Moment) -> Clock:
    """What calendar and clock say."""
    offset = moment.zone.at(moment.seconds)
    days, second_of_day = divmod(moment.seconds + offset.seconds, DAY_S)
    year, month, day = _civil(days)
    hour, rest = divmod(second_of_day, 3600)
    weekday = (days + 4) % 7  # 1 January 1970 was a Thursday
    return Clock(year, month, day, hour, *divmod(rest, 60), weekday, days - days_since_1970(year, 1, 1) + 1, offset)


def _civil(days: int) -> tuple[int, int, int]:
    """The date so many days after 1 January 1970."""
    era, day_of_era = divmod(days + _DAYS_BEFORE_1970, _DAYS_IN_400_YEARS)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return era * 400 + year_of_era + (month <= 2), month, day


def days_since_1970(year: int, month: int, day: int) -> int:
    """The days from 1 January 1970 to a date; days beyond the month's end go on into the next ones."""
    year_from_march = year - (month <= 2)
    era, year_of_era = divmod(year_from_march, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _DAYS_IN_400_YEARS + day_of_era - _DAYS_BEFORE_1970


def add_date(moment: Moment, years: int, months: int, days: int) -> Moment:
    """The same time of day on another date."""
    now = clock(moment)
    more_years, month_from_0 = divmod(now.month - 1 + months, 12)
    year = now.year + years + more_years
    date = days_since_1970(year, month_from_0 + 1, now.day) + days
    if abs(date) > _YEAR_LIMIT * 366:
        raise Failure(Problem.DATA, "that date is too far away")
    there = date * DAY_S + now.hour * 3600 + now.minute * 60 + now.second
    return Moment(there - _offset_of_local(there, moment.zone), moment.nanos, moment.zone, moment.local)


def _offset_of_local(there: int, zone: Zone) -> int:
    """The offset to take off a local time; where the clock is changed, the one that Go takes."""
    guess = zone.at(there).seconds
    return zone.at(there - guess).seconds if guess else 0


def in_zone(moment: Moment, zone: Zone) -> Moment:
    """The same moment elsewhere."""
    return Moment(moment.seconds, moment.nanos, zone, moment.local)
