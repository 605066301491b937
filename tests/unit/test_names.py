"""What people name becomes a name of a file."""

from __future__ import annotations

import pytest

from warren.machine.names import file_name


@pytest.mark.parametrize("name", ["prod", "prod-1_eu", "prod.eu"])
def test_simple_names_stay_as_they_are(name: str) -> None:
    assert file_name(name) == name


def test_different_names_are_different_files() -> None:
    names = ["a b", "a_b", "a/b", "a%2Fb", "서울", "부산", "..", "."]

    assert len({file_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", [".", "..", "../up", "/etc", ".hidden"])
def test_no_name_leads_out_of_the_directory_or_is_hidden(name: str) -> None:
    assert "/" not in file_name(name)
    assert not file_name(name).startswith(".")
