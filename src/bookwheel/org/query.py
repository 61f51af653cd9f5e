"""Choose headlines: by state, tags, priority, words, properties and dates. What is not given is not asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from bookwheel.errors import Invalid
from bookwheel.org.outline import Headline, Outline
from bookwheel.org.planning import Kind


@dataclass(frozen=True, slots=True)
class Span:
    """Days from one to another, both included; an end that is not given is open."""

    first: date | None = None
    last: date | None = None

    def __contains__(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a headline must be like; tags and properties may be inherited."""

    text: str = ""  # in the title
    exact_case: bool = False
    todo: bool | None = None  # with a keyword, or without
    done: bool | None = None
    states: frozenset[str] = frozenset()  # any of these
    tags: frozenset[str] = frozenset()  # all of these
    without_tags: frozenset[str] = frozenset()
    priorities: frozenset[str] = frozenset()
    properties: Mapping[str, str] = field(default_factory=dict)
    planned: Mapping[Kind, Span] = field(default_factory=dict)
    archived: bool = True  # with archived and commented trees
    level: int | None = None


def select(outline: Outline, criteria: Criteria) -> Iterator[Headline]:
    """Yield the headlines of *outline* that meet *criteria*, in order."""
    return (headline for headline in outline.headlines if matches(headline, criteria))


def matches(headline: Headline, criteria: Criteria) -> bool:
    """Say whether *headline* meets all *criteria*; what costs least is asked first."""
    return (
        says(headline.title, criteria)
        and in_state(headline, criteria)
        and (criteria.level is None or headline.level == criteria.level)
        and (not criteria.priorities or headline.priority in criteria.priorities)
        and all(is_planned(headline, kind, span) for kind, span in criteria.planned.items())
        and is_tagged(headline, criteria)
        and (criteria.archived or not (headline.archived or headline.commented))
        and all(headline.value(name, inherit=True) == value for name, value in criteria.properties.items())
    )


def says(title: str, criteria: Criteria) -> bool:
    """Say whether the text is in *title*."""
    if criteria.exact_case:
        return criteria.text in title
    return criteria.text.casefold() in title.casefold()


def in_state(headline: Headline, criteria: Criteria) -> bool:
    """Say whether the state is one that is asked for."""
    keyword = headline.keyword
    return (
        (criteria.todo is None or (keyword is not None) == criteria.todo)
        and (criteria.done is None or headline.done == criteria.done)
        and (not criteria.states or keyword in criteria.states)
    )


def is_tagged(headline: Headline, criteria: Criteria) -> bool:
    """Say whether the tags are as asked for."""
    if not criteria.tags and not criteria.without_tags:
        return True
    tags = frozenset(headline.tags)
    return criteria.tags <= tags and not criteria.without_tags & tags


def is_planned(headline: Headline, kind: Kind, span: Span) -> bool:
    """Say whether the headline has a date of *kind* within *span*."""
    stamp = headline.timestamp(kind)
    return stamp is not None and stamp.date in span


def read_span(first: str | None, last: str | None) -> Span:
    """Return the span between two ISO dates. Raises Invalid if one of them is none."""
    try:
        return Span((first and date.fromisoformat(first)) or None, (last and date.fromisoformat(last)) or None)
    except ValueError as error:
        raise Invalid(f"{error}; write dates as YYYY-MM-DD", first=first, last=last) from error
