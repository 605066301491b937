"""Whatever a template says, it is text or a TemplateError that comes out."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from warren.notify.templates import Template, TemplateError, helper_functions, parse_template, sample_data
from warren.notify.templates.builtins import BUILTINS
from warren.notify.templates.times import named_zone

HELPERS = helper_functions(named_zone("Europe/Berlin"))
SAMPLES = sample_data({"app": "x"})
VALUES = (
    ".", ".Group", ".Result", ".Result.Status", ".Result.Maxlag", ".Result.Partitions", ".Extras", ".Extras.app", ".Id",
    ".Start", ".Start.Month", ".Result.TotalLag", ".Result.Complete", ".Result.Maxlag.Start.Lag", "$", "$x", "nil", "0",
    "-1", "99999999999999999999", "1e400", "2.5", '"%v|%5.2d|%[2]*.[1]x|%!"', '"\\xff"', "`2006 Jan _2 .000`", "'a'",
    "true",
)  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(("{{", "}}", "{{- ", " -}}", "(", ")", "|", ":=", "=", ",", " ", "\n", "/*", "*/", '"', "`", "'")),
    st.sampled_from(("{{if ", "{{else}}", "{{else if ", "{{end}}", "{{range $i, $x := ", "{{with ", "{{break}}")),
    st.sampled_from(('{{define "d"}}', '{{template "d" ', '{{block "b" ', "{{$x := ")),
    st.sampled_from((*BUILTINS, *HELPERS)).map(lambda name: f" {name} "),
    st.sampled_from(VALUES).map(lambda value: f" {value} "),
    st.text(st.characters(), max_size=5),  # surrogates, too
)
ANY_TEXT = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))
CALLS = st.lists(st.sampled_from((*BUILTINS, *HELPERS, *VALUES, "(", ")", "|", ".Start.Format", ".Start.AddDate")))
ANY_ACTION = CALLS.map(lambda words: "{{$x := 1}}{{" + " ".join(words) + "}}")
FORMATS = st.text("%+-# 0123.*[]vTtbcdoOqxXUeEfFgGspw\udcff\ud800é", max_size=12).filter(
    lambda text: len(text.split("9")) < 4
)


def parsed(text: str | bytes) -> Template | None:
    try:
        return parse_template(text, "t", HELPERS)
    except TemplateError:
        return None


def execute_with_all(template: Template) -> None:
    """Execute with all samples; any error but a TemplateError gets out."""
    for data in SAMPLES:
        with suppress(TemplateError):
            assert isinstance(template.render(data), str)


@given(ANY_TEXT | ANY_ACTION | st.binary())
def test_any_text_is_a_template_or_wrong_and_what_is_one_gives_text_or_an_error(text: str | bytes) -> None:
    template = parsed(text)
    if template is not None:
        execute_with_all(template)


@given(FORMATS, st.lists(st.sampled_from(VALUES[:-1]), max_size=3))
def test_any_format_prints_any_values(pattern: str, values: list[str]) -> None:
    template = parsed('{{$x := 1}}{{printf "' + pattern + '" ' + " ".join(values) + "}}")
    if template is not None:
        execute_with_all(template)


@given(st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"])))
def test_text_without_actions_comes_out_as_it_is(text: str) -> None:
    template = parsed(text)
    assert template is not None
    assert template.render(SAMPLES[0]) == text
