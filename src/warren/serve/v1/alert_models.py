"""What API v1 takes and answers about incidents, silences and notifiers; `models` has the rest, and says why so."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from warren.notify.events import Turn
from warren.serve.v1.models import NextPage, RuleName, Time, says
from warren.serve.v1.words import ChangeStatus, GroupStatus

MOST_INCIDENTS = 1_000
"""In one page: each comes with all its steps."""
LONGEST_NAME = 1_000
LONGEST_COMMENT = 4_000


class IncidentState(StrEnum):
    """Whether trouble goes on."""

    OPEN = "open"
    CLOSED = "closed"


class SilenceState(StrEnum):
    """Whether a silence holds now, will hold, or has held."""

    ACTIVE = "active"
    PENDING = "pending"
    ENDED = "ended"


# -- incidents -------------------------------------------------------------------------------------------------------


class IncidentQuery(BaseModel):
    """Which incidents."""

    cluster: str = says("Only incidents of this cluster.", default="")
    group: str = says("Only incidents of exactly this group.", default="")
    state: IncidentState | None = says("Only incidents that are open, or closed.", default=None)
    before: AwareDatetime | None = says(
        "Only incidents that were opened before this time: ISO 8601 with a time zone. A `+` must be written as `%2B`.",
        default=None,
        examples=["2026-03-01T12:00:00Z"],
    )
    after: str = says("The id of the last incident of the page before; `next` has it.", default="")
    limit: int = says("At most so many incidents.", default=100, ge=1, le=MOST_INCIDENTS)


class IncidentCause(TypedDict):
    """The partition that made the group what it was then."""

    topic: str
    partition: int
    rule: RuleName
    reason: Annotated[str, says("Why, in words and numbers.")]
    since: Annotated[Time | None, says("Since when the partition was like that.")]
    lag: Annotated[int, says("Unread records of the partition.")]
    lag_seconds: Annotated[float | None, says("How old the oldest of them was; null if it was not known.")]


class IncidentStep(TypedDict):
    """One turn of an incident."""

    at: Time
    turn: Annotated[Turn, says("What happened.")]
    status: Annotated[ChangeStatus, says("Of the group from then on; NOTFOUND if it was gone.")]
    total_lag: Annotated[int, says("Unread records of all partitions of the group.")]
    cause: Annotated[IncidentCause | None, says("Null for a group that was gone.")]


class Incident(TypedDict):
    """Trouble of one group, from its beginning to its end."""

    id: str
    cluster: str
    group: str
    state: IncidentState
    opened_at: Time
    closed_at: Annotated[Time | None, says("Null as long as it is open.")]
    status: Annotated[ChangeStatus, says("Of the group after the last step.")]
    worst: Annotated[GroupStatus, says("The worst that it has been.")]
    steps: Annotated[list[IncidentStep], says("Oldest first.")]


class IncidentList(TypedDict):
    """A page of incidents, newest first."""

    incidents: list[Incident]
    next: NextPage


# -- silences --------------------------------------------------------------------------------------------------------

# `from` and `class` are words of Python, so these cannot be written as classes.
_Holds = TypedDict("_Holds", {"from": Time, "until": Time})
_Classed = TypedDict("_Classed", {"class": Annotated[str, says("`class-name` of its configuration.")]})

_PATTERN = "where this regular expression (RE2) is found; empty: all"


class Silence(_Holds):
    """While it holds nobody is told of the groups that it is about; incidents are written down all the same."""

    id: str
    state: SilenceState
    cluster: Annotated[str, says(f"Clusters {_PATTERN}.")]
    group: Annotated[str, says(f"Groups {_PATTERN}.")]
    topic: Annotated[str, says(f"Groups that read a topic {_PATTERN}.")]
    by: Annotated[str, says("Who set it.")]
    comment: str


class SilenceList(TypedDict):
    """All silences, the newest first; those that are over are forgotten with the incidents of their time."""

    silences: list[Silence]


class NewSilence(BaseModel):
    """A silence to set: at least one of `cluster`, `group` and `topic`, and either `until` or `duration_s`."""

    model_config = ConfigDict(extra="forbid")

    cluster: str = says(f"Clusters {_PATTERN}.", default="", max_length=LONGEST_NAME)
    group: str = says(f"Groups {_PATTERN}.", default="", max_length=LONGEST_NAME, examples=["^billing-"])
    topic: str = says(f"Groups that read a topic {_PATTERN}.", default="", max_length=LONGEST_NAME)
    from_: AwareDatetime | None = says(
        "When it begins: ISO 8601 with a time zone; now if it is not there.", default=None, alias="from"
    )
    until: AwareDatetime | None = says("When it ends: ISO 8601 with a time zone.", default=None)
    duration_s: int | None = says("How many seconds it holds.", default=None, ge=1, examples=[7200])
    by: str = says("Who sets it.", default="", max_length=LONGEST_NAME)
    comment: str = says("Why.", default="", max_length=LONGEST_COMMENT)


# -- notifiers -------------------------------------------------------------------------------------------------------


class Notifier(_Classed):
    """How a notifier is doing; the numbers are over all restarts."""

    name: str
    waiting: Annotated[int, says("Events that are not delivered yet.")]
    oldest_waiting_since: Annotated[Time | None, says("When the oldest of them should have been sent at first.")]
    sent: Annotated[int, says("Events that were delivered.")]
    retried: Annotated[int, says("How often an event was not delivered, to be tried again.")]
    failed: Annotated[int, says("Events that were refused for good, or given up.")]
    last_sent_at: Time | None
    last_failed_at: Time | None
    last_error: Annotated[str | None, says("Why the last attempt that failed did; null if none ever did.")]


class NotifierList(TypedDict):
    """All notifiers, by name, and whether it is this Warren that sends."""

    leader: Annotated[bool, says("Whether this Warren is the one that sends.")]
    leader_state: Annotated[str, says("How it stands with that, in words.")]
    notifiers: list[Notifier]


class TrialResult(StrEnum):
    """What became of a test message."""

    DELIVERED = "delivered"
    RETRY = "retry"
    PERMANENT = "permanent"


class Trial(TypedDict):
    """What became of a message that says it is a test."""

    notifier: str
    result: Annotated[TrialResult, says("retry: a real message would be tried again; permanent: it never arrives.")]
    reason: Annotated[str | None, says("Why it was not delivered; null if it was.")]
