"""What places other than the offsets topic tell of groups, as JSON: who their members are, and what they read."""

from __future__ import annotations

import json

from warren.groups.derived import GroupState
from warren.groups.views import GroupType, GroupView, Member, Partition


def encode_view(view: GroupView) -> bytes:
    """A group as JSON; the same members always give the same bytes."""
    members = [
        {**one._asdict(), "partitions": [[at.topic, at.partition] for at in one.partitions]}
        for one in sorted(view.members, key=lambda one: (one.client_id, one.member_id))
    ]
    return json.dumps({"type": view.type.value, "state": view.state.value, "members": members}).encode()


def decode_view(value: bytes) -> GroupView:
    """A group from what `encode_view` made."""
    told = json.loads(value)
    members = [_member(**one) for one in told["members"]]
    return GroupView(GroupType(told["type"]), GroupState(told["state"]), None, members, {})


def _member(
    member_id: str, client_id: str, host: str, instance_id: str | None, partitions: list[tuple[str, int]]
) -> Member:
    return Member(member_id, client_id, host, instance_id, [Partition(topic, None, n) for topic, n in partitions])
