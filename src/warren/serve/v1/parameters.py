"""What API v1 takes; `models` has what it answers."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import Path
from pydantic import AfterValidator, AwareDatetime, BaseModel

from warren.rules.listing import SortKey
from warren.rules.standing import REMEMBERED_CHANGES
from warren.serve.v1.models import says
from warren.serve.v1.words import GroupStatus, GroupTypeName, RuleSetName

MOST_ITEMS = 10_000
"""In one page of a list."""

PATTERN = (
    "`*` and `?` stand for any letters, without either it is a part of the name; upper and lower case are the same"
)


# Names arrive percent-encoded, see errors.Edge.
ClusterName = Annotated[str, AfterValidator(unquote), Path(description="A cluster, as `/clusters` lists it.")]
GroupName = Annotated[str, AfterValidator(unquote), Path(description="A group; a `/` in its name is written as %2F.")]
TopicName = Annotated[str, AfterValidator(unquote), Path(description="A topic.")]
PartitionNumber = Annotated[int, Path(description="A partition.", ge=0)]


class TopicQuery(BaseModel):
    """Which topics."""

    name: str = says(f"Only topics with this name: {PATTERN}.", default="", examples=["orders*"])
    limit: int = says("At most so many topics.", default=100, ge=1, le=MOST_ITEMS)
    offset: int = says("Leave out so many topics from the start.", default=0, ge=0)


class GroupQuery(BaseModel):
    """Which groups, in which order."""

    status: list[GroupStatus] = says("Only groups in this status; may be given several times.", default_factory=list)
    name: str = says(f"Only groups with this name: {PATTERN}.", default="", examples=["billing-*"])
    topic: str = says("Only groups that use a topic with this name; a pattern like `name`.", default="")
    owner: str = says(
        "Only groups with a member on this host, or of this client id; a pattern like `name`.", default=""
    )
    type: list[GroupTypeName] = says("Only groups of this type; may be given several times.", default_factory=list)
    sort: SortKey = says("What the list is sorted by.", default=SortKey.SEVERITY)
    reverse: bool = says("Sort the other way round.", default=False)
    limit: int = says("At most so many groups.", default=100, ge=1, le=MOST_ITEMS)
    offset: int = says("Leave out so many groups from the start.", default=0, ge=0)
    trail: bool = says("Tell of each group how its lag has gone over the last hour.", default=False)
    rules: RuleSetName | None = says("Judge all groups by this rule set instead of their own.", default=None)


class ChangeQuery(BaseModel):
    """Which changes."""

    group: str = says(f"Only changes of groups with this name: {PATTERN}.", default="")
    since: AwareDatetime | None = says(
        "Only changes at this time or later: ISO 8601 with a time zone. A `+` must be written as `%2B`.",
        default=None,
        examples=["2026-03-01T12:00:00Z"],
    )
    limit: int = says("At most so many changes.", default=100, ge=1, le=REMEMBERED_CHANGES)
