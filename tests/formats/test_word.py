"""What Word can say that a sample does not show: styles, numbering, notes, boxes, changes, other standards."""

from __future__ import annotations

import pytest
from packages import NAMESPACE, line, package, word

from bookwheel.formats.word import convert

W = f'xmlns:w="{NAMESPACE}"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def text(body: str, **parts: str) -> str:
    """Return the Markdown of a document with that body; parts are related to it by their names."""
    return convert(related(body, **parts)).text


def related(body: str, **parts: str) -> bytes:
    links = "".join(f'<Relationship Id="{one}" Type="{REL}/{one}" Target="{one}.xml"/>' for one in parts)
    main = f'<w:document {W} xmlns:r="{REL}"><w:body>{body}</w:body></w:document>'
    return package(
        {
            "word/document.xml": main,
            "word/_rels/document.xml.rels": f"<Relationships>{links}</Relationships>",
            **{f"word/{name}.xml": content for name, content in parts.items()},
        }
    )


def run(content: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{content}</w:t></w:r>'


def style(key: str, name: str, inside: str = "") -> str:
    return f'<w:style w:styleId="{key}"><w:name w:val="{name}"/>{inside}</w:style>'


def test_a_heading_is_told_by_name_by_level_and_by_what_its_style_is_based_on() -> None:
    styles = (
        f"<w:styles {W}>"
        + style("a", "heading 2")
        + style("b", "Chapter", '<w:basedOn w:val="a"/>')
        + style("c", "Mine", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
        + style("d", "Loop", '<w:basedOn w:val="d"/>')
        + "</w:styles>"
    )
    body = "".join(line(key, f'<w:pStyle w:val="{key}"/>') for key in "abcdx") + line("o", '<w:outlineLvl w:val="0"/>')

    assert text(body, styles=styles) == "## a\n\n## b\n\n### c\n\nd\n\nx\n\n# o"


def test_lists_count_as_word_does() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/></w:lvl>'
        for depth, start, form in ((0, 3, "decimal"), (1, 1, "lowerLetter"), (2, 1, "bullet"))
    )
    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
    )

    def item(content: str, depth: int) -> str:
        return line(content, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="1"/></w:numPr>')

    body = (
        item("a", 0)
        + item("b", 1)
        + item("c", 2)
        + item("d", 0)
        + item("e", 1)
        + line("no", '<w:numPr><w:numId w:val="0"/></w:numPr>')
    )

    assert text(body, numbering=numbering) == "3. a\n   1. b\n      - c\n4. d\n   1. e\n\nno"


def test_notes_come_last_and_are_numbered_as_they_are_met() -> None:
    notes = f'<w:footnotes {W}><w:footnote w:id="5">{line("R&amp;D note")}</w:footnote></w:footnotes>'
    ends = f'<w:endnotes {W}><w:endnote w:id="5">{line("end")}</w:endnote></w:endnotes>'
    body = (
        f'<w:p>{run("See")}<w:r><w:endnoteReference w:id="5"/></w:r>{run(" and")}'
        '<w:r><w:footnoteReference w:id="5"/></w:r></w:p>'
    )

    assert text(body, footnotes=notes, endnotes=ends) == "See[^1] and[^2]\n\n[^1]: end\n\n[^2]: R&D note"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (run("a ", "<w:b/>") + run("b", "<w:b/>"), "**a b**"),
        (run("a", "<w:b/>") + run(" b", "<w:i/>"), "**a** *b*"),
        (run("a", '<w:b w:val="0"/>') + run("b", '<w:b w:val="false"/>'), "ab"),
        (run(" ", "<w:b/>") + run("x"), "x"),
        (run("x", '<w:rFonts w:ascii="Consolas"/>') + run(" y"), "`x` y"),
        (run("a`b", '<w:rFonts w:ascii="Consolas"/>') + run(" y"), "``a`b`` y"),
        (f"<w:ins>{run('in')}</w:ins><w:del><w:r><w:delText>out</w:delText></w:r></w:del>", "in"),
        (f"<w:sdt><w:sdtPr/><w:sdtContent>{run('held')}</w:sdtContent></w:sdt>", "held"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r>", "a\tb\nc-"),
        (f'{run("a")}<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>', "a7"),
        (f'<w:r><w:instrText>HYPERLINK "x"</w:instrText></w:r>{run("shown")}', "shown"),
        ('<w:r><w:drawing><x descr=""><docPr descr="A wheel"/></x></w:drawing></w:r>', "![A wheel]()"),
        (f'<w:hyperlink w:anchor="b">{run("inside")}</w:hyperlink>', "inside"),
    ],
)
def test_runs_are_shown_as_a_reader_sees_them(body: str, shown: str) -> None:
    assert convert(word(f"<w:p>{body}</w:p>")).text == shown


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{line('boxed')}</w:txbxContent>"
    both = f"<AlternateContent><Choice>{box}</Choice><Fallback>{box}</Fallback></AlternateContent>"
    body = f"<w:p>{run('around')}<w:r>{both}</w:r></w:p>"

    assert convert(word(body)).text == "around\n\nboxed"


def test_a_harmful_link_leaves_its_text() -> None:
    target = 'TargetMode="External" Target="javascript:x"'
    links = f'<Relationships><Relationship Id="x" Type="{REL}/hyperlink" {target}/></Relationships>'
    linked = f'<w:p><w:hyperlink r:id="x">{run("text")}</w:hyperlink></w:p>'
    main = f'<w:document {W} xmlns:r="{REL}"><w:body>{linked}</w:body></w:document>'

    assert convert(package({"word/document.xml": main, "word/_rels/document.xml.rels": links})).text == "text"


def test_the_strict_standard_is_the_same_to_us() -> None:
    data = f'<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body>{line("strict")}</w:body></w:document>'

    assert convert(package({"word/document.xml": data})).text == "strict"


def test_cells_keep_their_columns() -> None:
    def cell(content: str, look: str = "") -> str:
        return f"<w:tc><w:tcPr>{look}</w:tcPr>{line(content)}</w:tc>"

    rows = [cell("a") + cell("b") + cell("c"), cell("wide", '<w:gridSpan w:val="2"/>') + cell("x|y"), cell("one")]
    body = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"

    assert convert(word(body)).text == "| a | b | c |\n| --- | --- | --- |\n| wide |  | x\\|y |\n| one |  |  |"
