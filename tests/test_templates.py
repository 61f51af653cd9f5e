"""Templates: values and choices, and a complaint with its line for everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookwheel.errors import ParseFailed
from bookwheel.templates import parse


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("plain { text }", {}, "plain { text }"),
        ("{{.a}}{{ .a }}{{\t.a\n}}", {"a": "x"}, "xxx"),
        ("<{{.a}}>", {}, "<>"),
        ("{{.a}}", {"a": "{{.b}}", "b": "no"}, "{{.b}}"),
        ("{{if .a}}yes{{end}}.", {"a": "x"}, "yes."),
        ("{{if .a}}yes{{end}}.", {"a": ""}, "."),
        ("{{ if .a }}{{.a}}{{ else }}none{{ end }}", {}, "none"),
        ("{{if .a}}{{if .b}}both{{else}}a{{end}}{{else}}neither{{end}}", {"a": "1", "b": "1"}, "both"),
        ("{{if .a}}{{if .b}}both{{else}}a{{end}}{{else}}neither{{end}}", {"a": "1"}, "a"),
        ("{{if .a}}{{if .b}}both{{else}}a{{end}}{{else}}neither{{end}}", {"b": "1"}, "neither"),
    ],
)
def test_values_and_choices_are_put_in_place(text: str, values: dict[str, str], expected: str) -> None:
    assert parse(text).render(values) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("one\n{{.a", "in line 2 that is not closed"),
        ("{{.a}} {{", "in line 1 that is not closed"),
        ("{{if .a}}x", "{{if .a}} in line 1 without its {{end}}"),
        ("{{if .a}}x{{else}}y", "{{if .a}} in line 1 without its {{end}}"),
        ("{{if .a}}x{{else}}y{{else}}z{{end}}", "without its {{end}}"),
        ("\n\n{{end}}", "{{end}} in line 3 without an if"),
        ("{{else}}", "{{else}} in line 1 without an if"),
        ("{{range .a}}{{end}}", "{{range .a}} in line 1, which is neither"),
        ("{{a}}", "{{a}} in line 1, which is neither"),
        ("{{}}", "which is neither"),
        ("{{.a | upper}}", "which is neither"),
        ("{{- .a -}}", "which is neither"),
        ("{{if not .a}}{{end}}", "which is neither"),
        ("{{else if .a}}", "which is neither"),
        ("{{.a.b}}", "which is neither"),
    ],
)
def test_anything_else_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ParseFailed) as caught:
        parse(text)

    assert told in caught.value.message


@given(st.text())
def test_text_without_braces_stays_as_it_is(text: str) -> None:
    plain = text.replace("{", "(")

    assert parse(plain).render({"a": "b"}) == plain


@given(st.text())
def test_a_value_stays_as_it_is(value: str) -> None:
    assert parse("<{{.a}}>").render({"a": value}) == f"<{value}>"
