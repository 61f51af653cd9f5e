"""Make the sample files of `cases/`: run by hand, in an environment of its own, when a case is added or changed.

    pip install python-docx python-pptx openpyxl xlwt reportlab ebooklib extract-msg msoffcrypto-tool
    python tests/formats/make_cases.py                    LibreOffice (`soffice`) makes the OpenDocument files

The golden Markdown beside each file is written by hand once, or taken from `python -m bookwheel read` and read closely.
"""

import json
import shutil
import struct
import subprocess
import tempfile
from datetime import date, datetime
from email.message import EmailMessage
from pathlib import Path

CASES = Path(__file__).parent / "cases"
TRICKY = "R&D, a < b, x & y, List<String>, snake_case and 5*3*2."


def folder(name: str) -> Path:
    (CASES / name).mkdir(parents=True, exist_ok=True)
    return CASES / name


def docx() -> None:
    from docx import Document
    from docx.enum.text import WD_BREAK
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement, parse_xml
    from docx.oxml.ns import nsdecls, qn

    doc = Document()
    doc.core_properties.title = "A template's title"
    doc.core_properties.comments = "Everything a Word document can show."
    doc.add_heading("The reading room", 0)
    line = doc.add_paragraph(f"{TRICKY} ")
    line.add_run("Bold").bold = True
    line.add_run(", ")
    line.add_run("italic ").italic = True
    both = line.add_run("and both")
    both.bold = both.italic = True
    line.add_run(", ").add_text("and ")
    line.add_run("struck").font.strike = True
    line.add_run(", with ")
    line.add_run("code()").font.name = "Consolas"
    line.add_run(" in it.")
    doc.add_heading("Lists & links", 1)
    for text, style in (
        ("first", "List Bullet"), ("second", "List Bullet"), ("inner", "List Bullet 2"), ("third", "List Bullet"),
        ("one", "List Number"), ("two", "List Number"),
    ):  # fmt: skip
        doc.add_paragraph(text, style=style)
    linked = doc.add_paragraph("See ")
    link = OxmlElement("w:hyperlink")
    link.set(
        qn("r:id"), doc.part.relate_to("https://example.org/a?b=1&c=2", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    )
    run = OxmlElement("w:r")
    shown = OxmlElement("w:t")
    shown.text = "the site"
    run.append(shown)
    link.append(run)
    linked._p.append(link)
    linked.add_run(" for more.")
    doc.add_heading("A table", 2)
    grid = doc.add_table(rows=3, cols=3)
    rows = [("Name", "Size | Weight", "Note"), ("wheel", "2 m", "R&D"), ("lectern", "a < b", "")]
    for row, texts in zip(grid.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    grid.rows[2].cells[1].merge(grid.rows[2].cells[2])
    doc.add_heading("Code", 2)
    for text in ("def turn(wheel):", "    if wheel < 3 and a & b:", "        return '# no heading'"):
        doc.add_paragraph().add_run(text).font.name = "Courier New"
    doc.add_paragraph("Make haste slowly.", style="Quote")
    doc.add_paragraph("# This is no heading, ").add_run().add_break(WD_BREAK.LINE)
    doc.add_paragraph("1. and this is no list.")
    doc.add_paragraph("- nor this")
    changed = doc.add_paragraph("Kept ")
    changed._p.append(
        parse_xml(f'<w:ins {nsdecls("w")} w:id="1" w:author="x"><w:r><w:t>and inserted</w:t></w:r></w:ins>')
    )
    changed._p.append(
        parse_xml(f'<w:del {nsdecls("w")} w:id="2" w:author="x"><w:r><w:delText>gone</w:delText></w:r></w:del>')
    )
    doc.add_heading("Überschrift 日本語", 1)
    doc.add_paragraph("The last paragraph.")
    doc.save(folder("docx") / "room.docx")
    Document().save(folder("docx") / "empty.docx")


def office() -> None:
    """Let LibreOffice write the same things in its own way."""
    with tempfile.TemporaryDirectory() as work:
        page = Path(work) / "letter.html"
        page.write_text(
            "<html><head><title>Letter</title></head><body><h1>A letter on R&amp;D</h1><p>With <b>bold</b>, <i>italic</i>"
            " and a <a href='https://example.org/x?a=1&amp;b=2'>link</a>; a &lt; b.</p><h2>Items</h2><ul><li>one<ul><li>"
            "inner</ul><li>two</ul><ol><li>first<li>second</ol><table border=1><tr><th>Name<th>Value<tr><td>x &amp; y"
            "<td>a | b</table><pre>for x in y:\n    print(x &lt; 3)</pre><blockquote>Quoted.</blockquote></body></html>"
        )
        for to, source in (
            ("odt:writer8", page),
            ("docx:MS Word 2007 XML", Path(work) / "letter.odt"),
            ("odp", CASES / "pptx" / "talk.pptx"),
            ("ods", CASES / "xlsx" / "stock.xlsx"),
        ):
            extra = ["--infilter=HTML (StarWriter)"] if source == page else []
            command = ["soffice", "--headless", *extra, "--convert-to", to, "--outdir", work, str(source)]
            subprocess.run(command, check=True, capture_output=True)
        for name, kind in (("letter.odt", "odt"), ("letter.docx", "docx"), ("talk.odp", "odp"), ("stock.ods", "ods")):
            shutil.copy(Path(work) / name, folder(kind) / name)


def pptx() -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    show = Presentation()
    first = show.slides.add_slide(show.slide_layouts[0])
    first.shapes.title.text = "Reading & writing"
    first.placeholders[1].text = "A talk on R&D"
    second = show.slides.add_slide(show.slide_layouts[1])
    second.shapes.title.text = "What a wheel does"
    body = second.placeholders[1].text_frame
    body.text = "It turns, where a < b"
    inner = body.add_paragraph()
    inner.text, inner.level = "eight books", 1
    last = body.add_paragraph()
    run = last.add_run()
    run.text = "more"
    run.hyperlink.address = "https://example.org/wheel"
    second.notes_slide.notes_text_frame.text = "Speak slowly & clearly."
    third = show.slides.add_slide(show.slide_layouts[5])
    third.shapes.title.text = "Numbers"
    grid = third.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for place, text in enumerate(("Year", "Books", "1588", "a | b")):
        grid.cell(place // 2, place % 2).text = text
    box = third.shapes.add_textbox(Inches(1), Inches(4), Inches(4), Inches(1)).text_frame
    box.text = "A box beside it"
    chart = CategoryChartData()
    chart.categories = ["east", "west"]
    chart.add_series("2025", (1.5, 2))
    chart.add_series("2026", (3, 4))
    fourth = show.slides.add_slide(show.slide_layouts[6])
    fourth.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), chart)
    show.slides.add_slide(show.slide_layouts[6])
    show.save(folder("pptx") / "talk.pptx")
    silent = Presentation()
    silent.slides.add_slide(silent.slide_layouts[6])
    silent.save(folder("pptx") / "silent.pptx")


def sheets() -> None:
    import openpyxl
    import xlwt

    rows = [
        ("Title", "Copies", "Price", "Bought", "Lent"),
        ("Le diverse et artificiose machine", 1, 12.5, date(2019, 3, 1), True),
        ("R&D | a < b", 20, 3, datetime(2024, 3, 14, 9, 30), False),
        ("multi\nline", None, 0.1, None, None),
    ]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Stock & shelves"
    sheet.append(("Stock of the reading room",))
    sheet.append(())
    for row in rows:
        sheet.append(row)
    sheet["F3"] = "Sum"
    sheet["F4"] = "=B4*C4"
    book.create_sheet("Empty")
    other = book.create_sheet("Far away")
    other["C5"] = "lonely"
    book.save(folder("xlsx") / "stock.xlsx")
    old = xlwt.Workbook()
    page = old.add_sheet("Old sheet")
    day = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            page.write(y, x, value, *([day] if isinstance(value, date) else []))
    old.save(str(folder("xls") / "stock.xls"))
    wide = openpyxl.Workbook()
    wide.active["A1"], wide.active["XFD1048576"] = "first", "last"
    wide.save(folder("xlsx") / "wide.xlsx")
    empty = openpyxl.Workbook()
    empty.save(folder("xlsx") / "empty.xlsx")


def pdf() -> None:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    def grid(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 9)
        for row, texts in enumerate(
            (("Part", "Oil | fat", "Each"), ("gear", "R&D", "12 weeks"), ("axle", "", "1 year"))
        ):
            for column, words in enumerate(texts):
                canvas.drawString(60 + 150 * column, 500 - 14 * row, words)
            canvas.setFont("Helvetica", 9)
        for row, (number, words) in enumerate((("1.", "open it"), ("2.", "turn it, a < b"), ("3.", "close it"))):
            canvas.drawString(60, 400 - 14 * row, number)
            canvas.drawString(90, 400 - 14 * row, words)

    def page(canvas: Canvas, number: int, lines: list[tuple[str, int, str, int]]) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(60, 800, "The reading room")
        height = 760
        for font, size, text, gap in lines:
            height -= gap
            canvas.setFont(font, size)
            canvas.drawString(60, height, text)
        if number == 3:
            grid(canvas)
        canvas.setFont("Helvetica", 9)
        canvas.drawString(290, 40, str(number))
        canvas.showPage()

    text = "Times-Roman"
    canvas = Canvas(str(folder("pdf") / "manual.pdf"), pagesize=A4, invariant=True, pageCompression=0)
    canvas.setTitle("Microsoft Word - manual.docx")
    canvas.setSubject("How to turn the wheel")
    page(canvas, 1, [
        ("Helvetica-Bold", 20, "A manual of R&D", 0), ("Helvetica-Bold", 14, "1 Turning", 40),
        (text, 11, "The wheel turns when a < b and x & y. It holds eight books, and each of them", 30),
        (text, 11, "stays level while it goes round.", 13), (text, 11, "A second paragraph begins here.", 26),
        (text, 11, "\u2022 oil it", 26), (text, 11, "\u2022 turn it slowly, for the sake of", 13), (text, 11, "the gears", 13),
    ])  # fmt: skip
    page(canvas, 2, [
        ("Helvetica-Bold", 14, "2 Programming", 0), (text, 11, "The motor is programmed:", 30),
        ("Courier", 10, "def turn(wheel):", 26), ("Courier", 10, "    return wheel < 3", 12), (text, 11, "That is all.", 26),
        ("Times-Bold", 11, "A bold line alone", 30), (text, 11, "and text below it.", 14),
    ])  # fmt: skip
    page(
        canvas,
        3,
        [("Helvetica-Bold", 14, "3 Caring", 0), (text, 11, "# this is no heading", 30), (text, 11, "The end.", 26)],
    )
    canvas.save()

    locked = Canvas(str(folder("pdf") / "locked.pdf"), encrypt=StandardEncryption("secret", canPrint=0), invariant=True)
    locked.drawString(60, 700, "secret")
    locked.save()

    scanned = Canvas(str(folder("pdf") / "scanned.pdf"), invariant=True)
    scanned.rect(60, 60, 400, 600, fill=1)
    scanned.save()

    shape = Canvas(str(folder("pdf") / "gap.pdf"), invariant=True)
    for words in ("First page.", "", "Third page."):
        shape.drawString(60, 700, words)
        shape.showPage()
    shape.save()


def epub() -> None:
    from ebooklib import epub as books

    book = books.EpubBook()
    book.set_identifier("wheel")
    book.set_title("The book of R&D")
    book.set_language("en")
    book.add_metadata("DC", "description", "Two short chapters.")
    chapters = []
    for number, (title, body) in enumerate((
        ("One & only", "<p>Text with <em>emphasis</em>, a &lt; b.</p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>x &amp; y</td></tr></table>"),
        ("Two", "<p>Second.</p><pre>if a &lt; b:\n    pass</pre><script>hidden()</script>"),
    ), 1):  # fmt: skip
        chapter = books.EpubHtml(title=title, file_name=f"c{number}.xhtml", lang="en")
        chapter.content = f"<html><body><h1>{title.replace('&', '&amp;')}</h1>{body}</body></html>"
        book.add_item(chapter)
        chapters.append(chapter)
    book.toc = tuple(chapters)
    book.add_item(books.EpubNcx())
    book.add_item(books.EpubNav())
    book.spine = ["nav", *chapters]
    books.write_epub(str(folder("epub") / "book.epub"), book)


def notebook() -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Turning & R&D\n", "\n", "Some *text*, a < b."]},
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "print('x & y')\n# a comment",
         "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x & y\n", "more"]}]},
        {"cell_type": "raw", "metadata": {}, "source": "raw text"},
        {"cell_type": "code", "execution_count": 2, "metadata": {}, "source": "frame", "outputs": [
            {"output_type": "execute_result", "metadata": {}, "execution_count": 2,
             "data": {"text/plain": ["   a  b\n", "0  1  2"], "text/html": "<table></table>"}},
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo="}}]},
        {"cell_type": "code", "execution_count": 3, "metadata": {}, "source": "1/0", "outputs": [
            {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero",
             "traceback": ["\x1b[0;31mZeroDivisionError\x1b[0m", "division by zero"]}]},
        {"cell_type": "markdown", "metadata": {}, "source": "## The end"},
    ]  # fmt: skip
    made = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    (folder("ipynb") / "turning.ipynb").write_text(json.dumps(made, indent=1))


def mail() -> None:
    message = EmailMessage()
    message["Subject"] = "Minutes of the R&D meeting: Grüße"
    message["From"] = "Ann Other <ann@example.org>"
    message["To"] = "Bob <bob@example.org>, Carol <carol@example.org>"
    message["Date"] = "Thu, 14 Mar 2024 09:30:00 +0100"
    message["Message-ID"] = "<1@example.org>"
    message.set_content("Dear all,\n\n> a < b, said Bob\n\n# not a heading\n\nx & y\n")
    message.add_alternative("<html><body><p>Dear <b>all</b></p></body></html>", subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plan & co.pdf")
    forwarded = EmailMessage()
    forwarded["Subject"] = "The first one"
    forwarded["From"] = "dan@example.org"
    forwarded["Date"] = "Wed, 13 Mar 2024 08:00:00 +0000"
    forwarded.set_content("<html><body><h1>Hello</h1><p>Only <i>HTML</i> &amp; more.</p></body></html>", subtype="html")
    message.add_attachment(forwarded)
    message.set_boundary("outer")
    for number, part in enumerate(message.iter_parts()):
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            part.set_boundary(f"inner{number}")
    (folder("eml") / "minutes.eml").write_bytes(message.as_bytes())
    outlook()


def outlook() -> None:
    from extract_msg.ole_writer import OleWriter

    ticks = 116_444_736_000_000_000 + 1_710_405_000 * 10_000_000  # 14 March 2024, 08:30 UTC
    properties = b"\0" * 32 + struct.pack("<HHIq", 0x0040, 0x0039, 6, ticks)
    writer = OleWriter()
    writer.addEntry("__properties_version1.0", properties)
    for tag, text in (
        ("0037", "Minutes & R&D"), ("0C1A", "Ann Other"), ("5D01", "ann@example.org"), ("0E04", "Bob; Carol"),
        ("1000", "Dear all,\r\n\r\na < b and x & y.\r\n# no heading\r\n"),
    ):  # fmt: skip
        writer.addEntry(f"__substg1.0_{tag}001F", text.encode("utf-16-le"))
    writer.addEntry("__attach_version1.0_#00000000", storage=True)
    writer.addEntry("__attach_version1.0_#00000000/__substg1.0_3707001F", "plan.pdf".encode("utf-16-le"))
    writer.write(str(folder("msg") / "minutes.msg"))


def locked_office() -> None:
    import msoffcrypto

    with open(CASES / "docx" / "room.docx", "rb") as plain, open(CASES / "docx" / "locked.docx", "wb") as target:
        msoffcrypto.OfficeFile(plain).encrypt("secret", target)


def texts() -> None:
    (folder("csv") / "stock.csv").write_bytes(
        '\ufeffTitle,Copies,Note\r\n"Le diverse, et artificiose",1,"R&D ""quoted"""\r\n\r\na | b,20,x < y\r\n'.encode()
    )
    (folder("csv") / "semicolons.csv").write_bytes("Größe;Preis\n1,5;2,50\n3;4\n".encode("cp1252"))
    (folder("tsv") / "stock.tsv").write_text("a\tb\n1\t2\n")
    (folder("json") / "stock.json").write_text('[{"title": "R&D", "copies": 1}, {"title": "a < b | c", "lent": true}]')
    (folder("json") / "settings.json").write_text('{\n  "name": "wheel & co",\n  "gears": [1, 2, {"a": "<b>"}]\n}\n')
    (folder("json") / "minified.json").write_text(json.dumps({"items": [{"n": n, "of": ["x & y"]} for n in range(30)]}))
    (folder("jsonl") / "log.jsonl").write_text('{"at": 1, "what": "turn"}\n\n{"at": 2, "what": "stop & go"}\n')
    (folder("xml") / "wheel.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<wheel a="1 &lt; 2">\n  <book>R&amp;D</book>\n  <!-- note -->\n</wheel>\n'
    )


if __name__ == "__main__":
    for make in (docx, pptx, sheets, pdf, epub, notebook, mail, texts, office, locked_office):
        make()
