"""Write a large tree of Markdown that reads like documentation, the same one each time.

Sentences are taken from the sample library, or from any folder, and mixed by subject. On its own that would be
a tiny vocabulary said over and over, and an index would look better than it is. So invented names, terms and
identifiers take the place of some words, old ones often and new ones ever more rarely: as in real text, the number
of different words keeps growing with the length (Heaps' law).

    python benchmarks/corpus.py FOLDER [--files N] [--mb M] [--seed S] [--from SOURCE_FOLDER]
"""

import argparse
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

LIBRARY = Path(__file__).parent.parent / "examples" / "library"

FRESH = 5.0  # with FADE: the chance that the n-th term is a new one is FRESH / n ** FADE
FADE = 0.3  # about 40,000 different words in 15 MB
OWN_TERMS = 14  # a file's own terms, which come back in it and make it worth finding
OWN_SHARE = 0.4  # of all replaced words; the rest come from the whole tree's vocabulary
REPLACED = (0, 0, 1, 1, 1, 1, 2, 2, 2, 3)  # words replaced in a sentence

FOLDERS = ("guides", "reference", "manual", "notes", "history", "api", "operations", "design")
LEVELS = {1: (2,), 2: (2, 3, 3), 3: (2, 3, 3, 4), 4: (2, 3, 4)}  # which levels may follow a heading

# ruff: noqa: SIM905 - lists of words are easier to read and to add to as text
STARTS = "b bl br c ch d dr f fl g gr h j k kl l m n p pr r s sch sk st t th tr v w z".split()
VOWELS = "a e i o u ai ea ie oo".split()
ENDS = "b ck d ff g l ld lm m n nd ng r rd rn s ss st t tz x".split()
PREFIXES = (
    "aero alti anti archi auto biblio carto chrono cine code di epi eso exo geno grapho helio hemi holo hyper iso"
    " litho macro meta micro mono morpho multi neo omni ortho para peri photo poly proto pseudo retro semi stereo"
    " syn tele topo trans typo ultra xylo"
).split()
ROOTS = (
    "calc card clast cline copt cur dent dict fact fer fix flect form fract gen glyph gon gram join junct lect lit log"
    " man mark met mit morph nom not opt ord pact part path pend phon pil plex pon port pos punct quer rect rot rupt"
    " scal scop scrib sect sert sign sist spec spir stat strict struct tact tens text tom tort tract trop typ vect"
    " ven vers vis voc volut"
).split()
SUFFIXES = (
    "able age al ance ant ary ate ation ative ator ed ence ent er ery ible ic ical ide ify ine ing ion ism ist ite"
    " ity ium ive ize oid or ous ule ure"
).split()
PARTS = (
    "batch book brake cache card chunk clock count cursor depth drawer entry field folio gear handle index interval"
    " key label lamp leaf lectern limit loan lock margin max min note offset page path queue rank reader ratio retry"
    " room scan score section seed shelf slip sort spine tag term tilt time token trail turn wheel width window"
).split()
VERBS = "add build check close count draw drop fetch find get load lock make mark merge move open read set sort".split()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence cut into words, and the places where a word may be replaced."""

    words: tuple[str, ...]
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """What one source file gives: its sentences and its headings."""

    sentences: list[Sentence]
    headings: list[str]


def make_tree(
    folder: Path, files: int = 1_500, megabytes: float = 15.0, seed: int = 1588, source: Path = LIBRARY
) -> None:
    """Write *files* Markdown files of *megabytes* million bytes together below *folder*.

    The same arguments give the same bytes. Raises ValueError if *source* holds no prose.
    """
    random = Random(seed)
    subjects = read_subjects(source)
    vocabulary = Vocabulary(random)
    places = make_places(vocabulary, files)
    weights = [random.lognormvariate(0, 0.5) for _ in range(files)]
    left, weight_left = megabytes * 1_000_000, sum(weights)
    for weight in weights:
        place = folder / random.choice(places)
        title, text = Page(random, vocabulary, subjects).write(round(left * weight / weight_left))
        place.mkdir(parents=True, exist_ok=True)
        left -= (place / f"{slug(title)}.md").write_bytes(text)  # what a file got too much, the others get less
        weight_left -= weight


def read_subjects(source: Path) -> list[Subject]:
    """Return the prose of all Markdown and plain text files below *source*, a subject for each file."""
    paths = sorted(path for path in source.rglob("*") if path.suffix in {".md", ".txt"})
    subjects = [read_subject(path.read_text(encoding="utf-8", errors="replace")) for path in paths]
    rich = [subject for subject in subjects if len(subject.sentences) >= 10]
    if not rich:
        raise ValueError(f"{source} has no Markdown or text file with ten sentences or more; name another folder")
    return rich


def read_subject(text: str) -> Subject:
    """Return the sentences and headings of a text, without its front matter, code and tables."""
    text = re.sub(r"\A---\n.*?\n---\n|^```.*?^```$|<!--.*?-->|^\|.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (?:[\d.]+ )?(\w[^\d`\n]{2,50})$", text, re.MULTILINE)  # no numbers, dates or code
    prose = re.sub(r"^#.*$|^[ \t]*(?:[-*>]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)  # a list item is a paragraph
    paragraphs = [" ".join(part.split()) for part in prose.split("\n\n")]
    sentences = [sentence for part in paragraphs for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", part)]
    return Subject(
        sentences=[cut(sentence) for sentence in sentences if 30 <= len(sentence) <= 300],
        headings=headings or ["Overview"],
    )


def cut(sentence: str) -> Sentence:
    """Return the sentence with its longer words marked as replaceable, all but the first word."""
    words = tuple(sentence.split())
    return Sentence(words, tuple(i for i, word in enumerate(words) if i and len(word) > 4 and word.isalpha()))


class Vocabulary:
    """The invented terms of a tree. Terms in use come back, the more often the more they were used."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.known: set[str] = set()
        self.used: list[str] = []

    def draw(self) -> str:
        """Return a term: now and then a new one, otherwise one that was used before."""
        fresh = self.random.random() < FRESH / (len(self.used) + 1) ** FADE
        term = self.invent() if fresh else self.random.choice(self.used)
        self.used.append(term)
        return term

    def invent(self) -> str:
        """Return a term that has never been used."""
        makers = (self.name, self.jargon, self.identifier, self.code, self.version, self.number)
        while True:
            term = self.random.choices(makers, cum_weights=(38, 72, 82, 88, 94, 100))[0]()
            if term not in self.known:
                self.known.add(term)
                return term

    def name(self) -> str:
        """Return the name of a person or place that does not exist."""
        pick = self.random.choice
        count = pick((2, 2, 2, 3))
        syllables = [pick(STARTS) + pick(VOWELS) for _ in range(count)]
        return ("".join(syllables) + pick(ENDS)).capitalize()

    def jargon(self) -> str:
        """Return a term that sounds as if a field of study had made it up."""
        pick = self.random.choice
        return pick(PREFIXES) + pick(ROOTS) + pick(SUFFIXES) + pick(("", "", "s"))

    def identifier(self) -> str:
        """Return the name of a setting or a function."""
        parts = self.random.sample(PARTS, 3)
        if self.random.random() < 0.6:
            return f"`{'_'.join(parts)}`"
        return f"`{self.random.choice(VERBS)}{''.join(part.capitalize() for part in parts[:2])}()`"

    def code(self) -> str:
        """Return an error code or a part number."""
        kind = self.random.choice(("E-", "RW-", "LS-", "BW-"))
        return f"{kind}{self.random.randrange(1_000, 100_000)}"

    def version(self) -> str:
        """Return a version number."""
        return ".".join(str(self.random.randrange(limit)) for limit in (12, 40, 60))

    def number(self) -> str:
        """Return a number with a unit."""
        return f"{self.random.randrange(10, 100_000)} {self.random.choice(('ms', 'kB', 'pages', 'cards', 'mm', 'kg'))}"


def make_places(vocabulary: Vocabulary, files: int) -> list[str]:
    """Return folders of one to three levels, about one for each twelve files."""
    random = vocabulary.random
    names = [vocabulary.name().lower() for _ in range(max(2, files // 40))]
    places = [[random.choice(FOLDERS), *random.sample(names, random.randrange(3))] for _ in range(1 + files // 12)]
    return ["/".join(place) for place in places]


class Page:
    """One Markdown file in the making: a few subjects and some terms of its own."""

    def __init__(self, random: Random, vocabulary: Vocabulary, subjects: list[Subject]) -> None:
        self.random = random
        self.vocabulary = vocabulary
        self.subjects = random.choices(subjects, k=3)
        self.terms = [vocabulary.draw() for _ in range(OWN_TERMS)]

    def write(self, size: int) -> tuple[str, bytes]:
        """Return a title no other page has, and a file of about *size* bytes."""
        title = f"{self.heading()}: {self.vocabulary.invent().strip('`')}"
        text = self.front_matter(title) if self.random.random() < 0.4 else ""
        levels = list(self.levels(self.random.randrange(5, 13)))
        for done, level in enumerate(levels):
            text += f"{'#' * level} {self.heading() if done else title}\n\n"
            text += self.section(size * (done + 1) // len(levels) - len(text))
        return title, text.encode()

    def levels(self, count: int) -> Iterator[int]:
        """Yield the levels of the headings: a 1, then never more than one level deeper than before."""
        level = 1
        for _ in range(count):
            yield level
            level = self.random.choice(LEVELS[level])

    def heading(self) -> str:
        """Return a heading of one of the page's subjects, often about one of its terms."""
        heading = self.random.choice(self.random.choice(self.subjects).headings)
        return heading if self.random.random() < 0.4 else f"{heading} with {self.random.choice(self.terms)}"

    def section(self, size: int) -> str:
        """Return paragraphs of *size* characters or a little more, and at times a table or code."""
        block = self.random.choices((self.code, self.table, str), cum_weights=(15, 30, 100))[0]()
        blocks = [block] if block else []
        while (
            not blocks or sum(map(len, blocks)) < size - 150
        ):  # half a paragraph: some sections end early and some late
            blocks.insert(0, self.paragraph())
        return "".join(f"{block}\n\n" for block in blocks)

    def paragraph(self) -> str:
        """Return two to five sentences on one subject, most often on the page's first."""
        subject = self.random.choices(self.subjects, cum_weights=(60, 85, 100))[0]
        picked = self.random.sample(subject.sentences, self.random.randrange(2, 6))
        return " ".join(map(self.sentence, picked))

    def sentence(self, sentence: Sentence) -> str:
        """Return the sentence with some of its words replaced by terms."""
        count = min(self.random.choice(REPLACED), len(sentence.slots))
        words = list(sentence.words)
        for slot in self.random.sample(sentence.slots, count):
            words[slot] = self.term()
        return " ".join(words)

    def term(self) -> str:
        """Return one of the page's own terms or any other."""
        return self.random.choice(self.terms) if self.random.random() < OWN_SHARE else self.vocabulary.draw()

    def code(self) -> str:
        """Return a block of settings or commands, with a comment that must not be taken for a heading."""
        names = [self.vocabulary.identifier().strip("`") for _ in range(self.random.randrange(2, 7))]
        if self.random.random() < 0.5:
            lines = [f"{name.removesuffix('()')} = {self.random.randrange(1_000)}" for name in names]
            return "\n".join(["```toml", f"# {self.heading()}", *lines, "```"])
        lines = [f"{name.removesuffix('()')}({self.random.randrange(100)})" for name in names]
        return "\n".join(["```python", f"# {self.heading()}", *lines, "```"])

    def table(self) -> str:
        """Return a table of terms."""
        rows = [(self.term(), self.vocabulary.number(), self.heading()) for _ in range(self.random.randrange(3, 9))]
        return "\n".join(["| Name | Value | Meaning |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])

    def front_matter(self, title: str) -> str:
        """Return YAML with title, description and keywords, capitalised or not."""
        terms = ", ".join(term.strip("`") for term in self.terms[:5])
        fields = {"Title": title, "Description": self.heading(), "Keywords": terms}
        lower = self.random.random() < 0.5
        lines = [f'{name.lower() if lower else name}: "{quote(text)}"' for name, text in fields.items()]
        return "\n".join(["---", *lines, "---", "", ""])


def quote(text: str) -> str:
    """Return *text* fit for a double-quoted YAML string."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def slug(title: str) -> str:
    """Return the title as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a large tree of Markdown, the same one each time.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write; made if it is not there")
    parser.add_argument("--files", type=int, default=1_500, metavar="N", help="how many files (1500)")
    parser.add_argument("--mb", type=float, default=15.0, metavar="M", help="million bytes in all (15)")
    parser.add_argument("--seed", type=int, default=1588, metavar="S", help="another seed, another tree (1588)")
    parser.add_argument("--from", type=Path, default=LIBRARY, dest="source", metavar="SOURCE_FOLDER")
    options = parser.parse_args()
    start = time.perf_counter()
    make_tree(options.folder, options.files, options.mb, options.seed, options.source)
    print(f"{options.files} files, {options.mb:g} MB in {time.perf_counter() - start:.1f} s: {options.folder}")


if __name__ == "__main__":
    main()
