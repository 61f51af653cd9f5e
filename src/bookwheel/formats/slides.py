"""Read presentations (.pptx): a slide is a page, its title a heading, its notes come last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bookwheel.formats.made import Made, document, from_pages
from bookwheel.formats.package import Element, Package, local, properties, relations
from bookwheel.formats.writing import Block, Span, heading, inline, join, layout, literal, table
from bookwheel.model import Document, Source

WHAT = "a PowerPoint presentation"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

_TITLES = frozenset({"title", "ctrTitle"})
_SKIPPED = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})  # what stands on every slide
_LISTS = frozenset({"body", "obj", ""})  # placeholders whose paragraphs have bullets unless they say otherwise


def read(source: Source, data: bytes) -> Document:
    """Return the document in *data*; its text is Markdown, its pages are the slides."""
    nothing = "these slides hold no text, pictures perhaps: run text recognition on them first"
    return document(source, convert(data), nothing)


def convert(data: bytes) -> Made:
    """Return a presentation as Markdown, slide by slide."""
    package = Package(data, WHAT)
    main = next(
        (to for kind, to in relations(package, "").values() if kind == "officeDocument"), "ppt/presentation.xml"
    )
    parts = relations(package, main)
    order = (parts.get(one.get(R_ID, ""), ("", ""))[1] for one in package.xml(main).iter(f"{P}sldId"))
    return from_pages((slide(package, name) for name in order), properties(package))


def slide(package: Package, name: str) -> str:
    """Return the text of one slide: its title, what is on it, its notes."""
    links = relations(package, name)
    shapes = list(Slide(package, links).shapes(package.xml(name)))
    titles = [text for role, text in shapes if role in _TITLES]
    rest = [text for role, text in shapes if role not in _TITLES]
    notes = [to for kind, to in links.values() if kind == "notesSlide"]
    spoken = [note for one in notes if one in package.names and (note := notes_of(package, one))]
    return join([heading(1, " ".join(titles)), *rest, *(f"## Notes\n\n{one}" for one in spoken)])


def notes_of(package: Package, name: str) -> str:
    """Return what the speaker noted for a slide."""
    shapes = Slide(package, relations(package, name)).shapes(package.xml(name), bullets=False)
    return join(text for _, text in shapes)


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide on its way to Markdown."""

    package: Package
    links: Mapping[str, tuple[str, str]]

    def shapes(self, parent: Element, bullets: bool = True) -> Iterator[tuple[str, str]]:
        """Yield the kind of placeholder and the text of each shape."""
        for child in parent:
            name = local(child)
            if name in {"sp", "graphicFrame", "pic", "cxnSp"}:
                role = placeholder(child)
                if role not in _SKIPPED:
                    yield role, self.shape(child, role, bullets)
            elif name != "Fallback":
                yield from self.shapes(child, bullets)

    def shape(self, element: Element, role: str, bullets: bool) -> str:
        """Return the text of a shape: a title on one line, a table, else paragraphs and lists."""
        if role in _TITLES:
            return " ".join(" ".join(self.line(one).split()) for one in element.iter(f"{A}p")).strip()
        if grid := next(element.iter(f"{A}tbl"), None):
            return table(self.rows(grid))
        body = next((one for one in element.iter() if local(one) == "txBody"), None)
        if body is not None:
            listed = bullets and role in _LISTS
            return layout(self.paragraph(one, listed) for one in body.iter(f"{A}p"))
        return join([picture(element), *self.parts(element)])

    def rows(self, grid: Element) -> list[list[str]]:
        """Return the cells of a table."""
        return [
            [" ".join(self.line(one) for one in cell.iter(f"{A}p")) for cell in row.iter(f"{A}tc")]
            for row in grid.iter(f"{A}tr")
        ]

    def paragraph(self, element: Element, listed: bool) -> Block:
        """Return a paragraph, as an item of a list where it has a bullet or number."""
        given = element.find(f"{A}pPr")
        marks = {local(one) for one in given} if given is not None else set()
        text = literal(self.line(element).strip())
        if "buNone" in marks or not (listed or marks & {"buChar", "buAutoNum", "buBlip"}):
            return Block("text", text)
        depth = given.get("lvl", "0") if given is not None else "0"
        return Block("item", text, int(depth) if depth in set("12345678") else 0, "1." if "buAutoNum" in marks else "-")

    def line(self, paragraph: Element) -> str:
        """Return the runs of a paragraph as Markdown."""
        return inline(self.spans(paragraph))

    def spans(self, paragraph: Element) -> Iterator[Span]:
        """Yield the runs of a paragraph."""
        for run in paragraph:
            name = local(run)
            if name == "br":
                yield Span("\n")
            elif name in {"r", "fld"}:
                look = run.find(f"{A}rPr")
                link = look.find(f"{A}hlinkClick") if look is not None else None
                target = self.links.get(link.get(R_ID, ""), ("", ""))[1] if link is not None else ""
                shown = look.get if look is not None else dict[str, str]().get
                yield Span(
                    run.findtext(f"{A}t") or "",
                    shown("b") == "1",
                    shown("i") == "1",
                    link=target if target.startswith(("http:", "https:", "mailto:")) else "",
                )

    def parts(self, element: Element) -> Iterator[str]:
        """Yield the text of charts and diagrams, which are kept in parts of their own."""
        for one in element.iter():
            for key, to in one.attrib.items():
                kind, part = self.links.get(to, ("", "")) if key.startswith(R_ID[:-3]) else ("", "")
                if kind == "chart" and part in self.package.names:
                    yield chart(self.package.xml(part))
                elif kind == "diagramData" and part in self.package.names:
                    texts = (
                        " ".join(t.text or "" for t in p.iter(f"{A}t")) for p in self.package.xml(part).iter(f"{A}p")
                    )
                    yield layout(Block("item", literal(text), 0, "-") for text in texts)


def placeholder(shape: Element) -> str:
    """Return the kind of placeholder a shape is; "box" for none."""
    for one in shape.iter(f"{P}ph"):
        return one.get("type", "")
    return "box"


def picture(shape: Element) -> str:
    """Return what a picture is described as, as an image without an address."""
    shown = next((one.get("descr", "") for one in shape.iter(f"{P}cNvPr")), "")
    return f"![{' '.join(shown.split())}]()" if shown.strip() else ""


def chart(root: Element) -> str:
    """Return the numbers behind a chart as a table: a row a category, a column a series."""
    title = " ".join(one.text or "" for t in root.iter() if local(t) == "title" for one in t.iter(f"{A}t"))
    columns: list[list[str]] = []
    for series in (one for one in root.iter() if local(one) == "ser"):
        named = {local(one): [v.text or "" for v in one.iter() if local(v) == "v"] for one in series}
        columns = columns or [["", *named.get("cat", [])]]
        columns.append([" ".join(named.get("tx", [])), *named.get("val", [])])
    height = max((len(one) for one in columns), default=0)
    rows = [[column[i] if i < len(column) else "" for column in columns] for i in range(height)]
    return join([f"**{title.strip()}**" if title.strip() else "", table(rows)])
