"""Write the sample library's PDF, with the standard library alone.

The file is a plain PDF 1.4: two standard fonts, one uncompressed stream of text a page, no dates.
So it comes out the same, byte for byte, on every machine.
"""

import textwrap
from pathlib import Path

TARGET = Path(__file__).parent / "library" / "history" / "ramelli-1588.pdf"
TITLE = "Agostino Ramelli and his book of machines"

LEFT, TOP, FOOT = 72, 770, 40  # points on an A4 page of 595 by 842
LEADING = 15
WIDTH = 84  # characters: what fits a line of 11-point Helvetica even when the letters are wide

PAGES = [
    """
# Agostino Ramelli and his book of machines

A handout for visitors of the wheel room. Page 1: the man.

## An engineer among soldiers

Agostino Ramelli was born about 1531 near the lake of Lugano, on what is today the border of Italy and Switzerland;
Ponte Tresa is usually named. He learnt mathematics and war under the same master, Gian Giacomo de’ Medici, Marquis of
Marignano, a captain of the emperor Charles V. The two subjects were one. A military engineer of the time drew
fortresses, dug mines below the fortresses of other people, bridged rivers, moved guns and kept water out of trenches
or, when it was needed, let it in.

Later he went to France and into the service of Henri, Duke of Anjou. In 1572 and 1573 the duke besieged the
Protestant town of La Rochelle. Ramelli directed the digging of a mine under one of its bastions, was wounded, and was
taken prisoner. The duke is said to have helped him to freedom. Two years afterwards this duke was King Henri III, and
he did not forget his engineer: Ramelli had a pension from him and called himself “engineer of the most Christian
King”.

## What we do not know

We have no certain portrait except the one at the front of his book, which shows him at fifty-seven with a pair of
compasses in his hand and a fortress before him. We do not know whether he married, where he is buried, or the day he
died. He was probably still alive in Paris in 1608. He left one book. It was enough.
""",
    """
# Page 2: the book

## Le diverse et artificiose machine

The title can be given in English as “The various and ingenious machines of Captain Agostino Ramelli”. It came out in
Paris in 1588, not at a bookseller’s but, as the title page says, in the house of the author. He paid for it, and he
feared thieves: in the preface he complains that somebody he trusted had stolen drawings from him and had them
printed, badly and out of order.

Each machine has a picture on one page and a description beside it, in two languages, Italian and French. There are
195 designs. Every page of text is framed in printers’ ornaments, as if the machines were saints.

## What the machines do

More than half of them raise water. Pumps with one piston, two or four; chains of buckets; screws; wheels moved by
rivers, by horses, by men walking inside. Then there are mills for grain, cranes and hoists, saws for stone, bridges
to be thrown over a ditch at night, engines to lift a door from its hinges or to wrench apart the bars of a window
without noise, fountains with singing birds, and catapults, which were long out of date.

Only one of the 195 is meant for a reader.

## Why it was copied

For two centuries the book was mined by others. German, English and even Chinese works took pictures from it; a book
on the machines of the Far West, made by a Jesuit and a Chinese scholar and printed in 1627, redrew several. Ramelli
showed solutions before there were problems: gears of all kinds, rotary pumps, and a wealth of ways to turn one motion
into another. It is a catalogue of the possible.
""",
    """
# Page 3: plate 188

## Looking at the plate

A scholar in a long gown sits before the wheel. Part of the gearing is drawn open, as though the side of the wheel
were made of glass. Look for three things.

First, the quiet. Nobody else is in the room. Reading is private, and so is this machine.

Second, the shelves at the back. They hold far more books than the wheel does. The wheel is not a store: it is for the
few books of today.

Third, what is missing. There is no crank and no motor. The reader moves the wheel itself, with a touch, and so it
must be well balanced, and the books of about equal weight. The text does not say so. Whoever built one found out.

## What we changed

Our wheel in Lantern Street follows the plate in its gears, and departs from it in four points. The axle is 12
centimetres lower, for readers without a gown. The teeth are of hornbeam and can be changed one by one. A felt brake
holds the wheel when the reader lets go. And there is a small motor, because the chair is now also used by people who
cannot reach the rim; those for whom Ramelli said he made it, the unwell and the gouty, would have asked for one.

## Three questions to take home

1. Which eight books would you put on the wheel this week?

2. Which one would you turn past each time, and why is it there?

3. If you had to find one sentence in the eight of them, would you rather have a wheel or an index?

Lantern Street Reading Room. Take this sheet with you; there are more.
""",
]


def main() -> None:
    """Write the PDF to its place in the sample library."""
    TARGET.write_bytes(make_pdf(PAGES, TITLE))
    print(f"{TARGET} written")


def make_pdf(pages: list[str], title: str) -> bytes:
    """Return a PDF with one page for each text.

    Lines that begin with # or ## are set as headings. Text outside Windows-1252 raises UnicodeEncodeError.
    """
    first_page = 6  # objects 1 to 5 are the catalog, the page tree, the two fonts and the information
    kids = b" ".join(b"%d 0 R" % (first_page + 2 * i) for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        font(b"Helvetica"),
        font(b"Helvetica-Bold"),
        b"<< /Title %s /Author (Lantern Street Reading Room) >>" % string(title),
    ]
    for number, text in enumerate(pages, start=1):
        objects += page(draw(text, number), contents=len(objects) + 2)
    return assemble(objects)


def font(name: bytes) -> bytes:
    """Return the object of one of the fonts that each PDF reader has."""
    return b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % name


def page(stream: bytes, contents: int) -> list[bytes]:
    """Return the two objects of a page; *contents* is the number the second one gets."""
    return [
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
        b" /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % contents,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]


def draw(text: str, number: int) -> bytes:
    """Return the operators that draw *text* line by line, with the page's number at the foot."""
    height = TOP
    lines = []
    for paragraph in text.strip().split("\n\n"):
        face, size, words = style(paragraph)
        for line in textwrap.wrap(words, WIDTH):
            lines.append(show(line, face, size, LEFT, height))
            height -= LEADING
        height -= LEADING // 2
    lines.append(show(str(number), b"F1", 9, 295, FOOT))
    return b"\n".join(lines)


def style(paragraph: str) -> tuple[bytes, int, str]:
    """Return font, size and words of a paragraph."""
    if paragraph.startswith("## "):
        return b"F2", 12, paragraph[3:]
    if paragraph.startswith("# "):
        return b"F2", 16, paragraph[2:]
    return b"F1", 11, paragraph


def show(line: str, face: bytes, size: int, x: int, y: int) -> bytes:
    """Return the operators for one line of text at a place."""
    return b"BT /%s %d Tf %d %d Td %s Tj ET" % (face, size, x, y, string(line))


def string(text: str) -> bytes:
    """Return *text* as a PDF string."""
    raw = text.encode("cp1252")  # the encoding PDF calls WinAnsi
    return b"(%s)" % raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def assemble(objects: list[bytes]) -> bytes:
    """Return the file: header, objects, cross-reference table and trailer."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")  # bytes over 127 tell transfer programs that the file is binary
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)  # each entry is exactly 20 bytes
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


if __name__ == "__main__":
    main()
