"""What is said of a template that is wrong: where, what, and what to write instead."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from warren.notify.templates import (
    Problem,
    TemplateError,
    check_template,
    helper_functions,
    load_template,
    parse_template,
    sample_data,
)
from warren.notify.templates.times import named_zone

HELPERS = helper_functions(named_zone("UTC"))
SAMPLES = sample_data({"app": "x"})


def mistake_in(text: str) -> TemplateError:
    """What is said of a text that is wrong as such."""
    with pytest.raises(TemplateError) as caught:
        parse_template(text, "alert.tmpl", HELPERS)
    return caught.value


def mistake_when_checked(text: str) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        check_template(parse_template(text, "alert.tmpl", HELPERS), SAMPLES)
    return caught.value


SYNTAX = [
    ("{{jsonencode .}}", "alert.tmpl:1:3: there is no function jsonencode. Did you mean jsonencoder?"),
    ("a\n  {{.Group", "alert.tmpl:2:11: the action that starts in line 2 is not closed; end it with }}"),
    ("{{else}}", "alert.tmpl:1:3: there is nothing open that {{else}} could belong to"),
    ("{{end}}", "alert.tmpl:1:3: there is nothing open that {{end}} could belong to"),
    ("{{if .ID}}\nx", "alert.tmpl:2:2: {{end}} is missing for what is opened in line 1"),
    ("{{if 1}}{{else}}{{else}}{{end}}", "alert.tmpl:1:19: there is an {{else}} already; {{end}} is missing"),
    ("{{$grop := 1}}{{$group}}", "alert.tmpl:1:17: the variable $group is not known here. Did you mean $grop?"),
    ("{{if}}{{end}}", "alert.tmpl:1:5: a value is missing in {{if}}"),
    ("{{break}}", "alert.tmpl:1:3: {{break}} can only stand inside of {{range}}"),
    ("{{print 'text'}}", "alert.tmpl:1:9: 'text' is not one character. Strings are written as \"text\"."),
    ('{{"\\d"}}', "alert.tmpl:1:3: \\d is no escape in a string. For a backslash write \\\\, or use `raw text`."),
    ("{{1i}}", "alert.tmpl:1:3: 1i is a complex number, which templates here do not have"),
    ("é{{print %}}", "alert.tmpl:1:11: '%' cannot stand here, in the arguments of a function"),
    ("{{(print 1}}", "alert.tmpl:1:11: a parenthesis is not closed before the end of the action"),
]


@pytest.mark.parametrize(("text", "said"), SYNTAX)
def test_a_mistake_in_the_text_is_told_with_its_place_and_what_to_do(text: str, said: str) -> None:
    error = mistake_in(text)
    assert (str(error), error.problem) == (said, Problem.SYNTAX)


CHECKED = [
    ("{{.Results}}", "alert.tmpl:1:3: the data has no field or method Results. Did you mean .Result?", Problem.FIELD),
    (
        "{{range .Result.Partitions}}\n{{.CurentLag}}{{end}}",
        "alert.tmpl:2:3: *protocol.PartitionStatus has no field or method CurentLag. Did you mean .CurrentLag?",
        Problem.FIELD,
    ),
    (
        "{{.Start.Formatted}}",
        "alert.tmpl:1:9: time.Time has no field or method Formatted. Did you mean .Format?",
        Problem.FIELD,
    ),
    (
        "{{add .Result.TotalLag 1}}",
        "alert.tmpl:1:14: int is wanted here, and this is uint64. Types of numbers are not converted into each other.",
        Problem.TYPE,
    ),
    (
        "{{eq .Result.Complete 1}}",
        "alert.tmpl:1:3: eq: float32 and int cannot be compared. Write a number of the same kind, such as 1.0 for 1.",
        Problem.TYPE,
    ),
    ("{{add 1}}", "alert.tmpl:1:3: add takes 2 arguments, not 1", Problem.TYPE),
    ('{{template "x"}}', 'alert.tmpl:1:12: there is no template "x". Define it with {{define "name"}}.', Problem.FIELD),
]


@pytest.mark.parametrize(("text", "said", "problem"), CHECKED)
def test_a_mistake_that_shows_with_every_group_is_found_before_anything_is_sent(
    text: str, said: str, problem: Problem
) -> None:
    error = mistake_when_checked(text)
    assert (str(error), error.problem) == (said, problem)


def test_what_fails_with_some_groups_only_is_a_warning() -> None:
    template = parse_template("{{.Result.Maxlag.Topic}}", "alert.tmpl", HELPERS)
    assert check_template(template, SAMPLES) == (
        "alert.tmpl:1:10: .Topic of a nil pointer of type *protocol.PartitionStatus. "
        "Ask for it with {{if}} or {{with}} first. With some groups nothing can be sent.",
    )


def test_an_unknown_field_in_one_sample_only_is_found() -> None:
    mistake_when_checked("{{if eq .Result.Status 1}}{{.Nope}}{{end}}")


def test_a_good_template_has_no_warnings() -> None:
    assert check_template(parse_template("{{.Group}}", "alert.tmpl", HELPERS), SAMPLES) == ()


def test_the_name_Id_of_burrows_own_close_template_works_and_is_warned_of() -> None:
    template = parse_template('{"id":"{{.Id}}"}', "close.tmpl", HELPERS)
    assert template.render(SAMPLES[0]) == '{"id":"00000000-0000-4000-8000-000000000000"}'
    assert check_template(template, SAMPLES) == ("close.tmpl:1:10: .Id is taken for .ID; Burrow would refuse it",)


def test_templates_of_urls_have_no_helpers() -> None:
    with pytest.raises(TemplateError, match="there is no function jsonencoder"):
        parse_template("http://host/{{jsonencoder .Group}}", "url-open")


def test_the_zone_of_the_machine_is_the_local_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/St_Johns")
    time.tzset()
    shown = parse_template('{{.Start.Format "15:04:05 -0700 MST"}}', "t").render(sample_data({})[0])
    monkeypatch.undo()
    time.tzset()
    assert shown == "23:34:05 -0330 NST"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"none\.tmpl: the file cannot be read: No such file"):
        load_template(tmp_path / "none.tmpl")


def test_a_file_that_is_no_utf_8_passes_through(tmp_path: Path) -> None:
    path = tmp_path / "latin.tmpl"
    path.write_bytes(b"caf\xe9 {{.Cluster}}")
    assert load_template(path).execute(SAMPLES[0]).output == b"caf\xe9 local"


def test_what_is_said_of_odd_bytes_can_be_written_anywhere() -> None:
    with pytest.raises(TemplateError) as caught:
        parse_template(b"{{'\xff\xfe'}}", "t")
    assert str(caught.value).encode() == b"t:1:3: '\\udcff\\udcfe' is not one character. " + (
        b'Strings are written as "text".'
    )


def test_a_file_is_known_in_itself_by_its_name_without_the_directory(tmp_path: Path) -> None:
    path = tmp_path / "again.tmpl"
    path.write_text('{{if .Group}}{{template "again.tmpl" .Extras}}{{else}}{{.app}}{{end}}')
    assert load_template(path).render(SAMPLES[0]) == "x"


def test_definitions_do_not_take_the_place_of_the_text_around_them(tmp_path: Path) -> None:
    path = tmp_path / "defining.tmpl"
    path.write_text('{{define "a"}}a{{end}}text{{define "b"}}b{{end}}')
    assert load_template(path).render(SAMPLES[0]) == "text"


def test_an_empty_file_gives_an_empty_message(tmp_path: Path) -> None:
    path = tmp_path / "empty.tmpl"
    path.write_bytes(b"")
    assert load_template(path).render(SAMPLES[0]) == ""


LIMITS = [
    ("{{range 10000000}}{{end}}", "steps"),
    ("{{range 2000}}" + 10_000 * "a" + "{{end}}", "16,000,000 bytes"),
    ('{{range 20}}{{printf "%1000000d" 1}}{{end}}', "16,000,000 bytes"),
    ('{{$x := "0123456789"}}{{range 1000}}{{$x = print $x $x}}{{end}}', "16,000,000 bytes"),
    ('{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}', "100 levels"),
    ('{{define "x"}}{{if 1}}{{with 1}}{{template "x" (or 0 (and 1 .))}}{{end}}{{end}}{{end}}{{template "x" .}}', "100"),
]


@pytest.mark.parametrize(("text", "said"), LIMITS)
def test_a_template_that_would_not_end_is_stopped(text: str, said: str) -> None:
    with pytest.raises(TemplateError, match=said) as caught:
        parse_template(text, "t", HELPERS).execute(SAMPLES[0])
    assert caught.value.problem is Problem.LIMIT


@pytest.mark.parametrize("text", ["{{if 1}}" * 101, "{{print " + "(print " * 101, "{{with 1}}{{(1)}}" * 101])
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    assert mistake_in(text).problem is Problem.LIMIT


def test_a_hundred_levels_are_fine() -> None:
    text = "{{if 1}}" * 50 + "{{" + "(" * 50 + "1" + ")" * 50 + "}}" + "{{end}}" * 50
    assert parse_template(text, "t").render(SAMPLES[0]) == "1"


def test_many_else_ifs_are_not_nested() -> None:
    text = "{{if 0}}" + "{{else if 0}}" * 500 + "{{else}}last{{end}}"
    assert parse_template(text, "t").render(SAMPLES[0]) == "last"
