"""Measure how well search finds what people judged to answer a question, beside two other search libraries.

    python benchmarks/retrieval.py [--cache DIR] [FOLDER…]

A folder holds one collection: corpus.jsonl (id, title, text), queries.jsonl (id, text), and qrels.tsv with a head
line (query, document, score). Its documents become Markdown files, which take the product's own way into the index.
Making vectors takes a few minutes for a collection; with --cache they are kept for the next time.
bm25s and tantivy are measured in the same run where they are installed.
"""

import argparse
import csv
import importlib.util
import json
import math
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bookwheel.catalog import Catalog
from bookwheel.folders import Folder
from bookwheel.model import Query

COLLECTIONS = Path(__file__).parents[2] / "shared" / "data" / "ir"
MODES = ("lexical", "vector", "hybrid")
DEPTH = 100  # documents a query may bring
TOP = 10  # of which the order counts

Run = dict[str, list[str]]  # by query: documents, best first


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, questions, and which documents people said answer which question."""

    name: str
    documents: Mapping[str, tuple[str, str]]  # title and text
    queries: Mapping[str, str]  # those with at least one answer
    answers: Mapping[str, Mapping[str, int]]  # by query: the worth of each document that is one


def read_collection(folder: Path) -> Collection:
    """Return the collection a folder holds."""
    answers: dict[str, dict[str, int]] = defaultdict(dict)
    with (folder / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        for query, document, score in list(csv.reader(file, delimiter="\t"))[1:]:
            if int(score) > 0:
                answers[query][document] = int(score)
    documents = {one["id"]: (one.get("title", ""), one["text"]) for one in read_lines(folder / "corpus.jsonl")}
    queries = {one["id"]: one["text"] for one in read_lines(folder / "queries.jsonl") if one["id"] in answers}
    return Collection(folder.name, documents, queries, answers)


def read_lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


# the systems: each answers all queries of a collection


def ours(collection: Collection, work: Path) -> Iterator[tuple[str, Run]]:
    """Yield what Bookwheel finds in each mode, from files through sync and embed to search."""
    files = work / "files"
    names = write_files(collection, files)
    catalog = Catalog(work / "store", [Folder(files.resolve(), collection.name)], "minilm")
    try:
        catalog.sync()
        catalog.embed(report)
        for mode in MODES:
            yield f"bookwheel, {mode}", {key: search(catalog, text, mode, names) for key, text in queries(collection)}
    finally:
        catalog.close()


def write_files(collection: Collection, folder: Path) -> dict[str, str]:
    """Write every document as a Markdown file unless it is there already; return the documents by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {f"{re.sub(r'[^A-Za-z0-9._-]', '_', key)}.md": key for key in collection.documents}
    assert len(names) == len(collection.documents), f"ids of {collection.name} are too alike to be file names"
    for name, key in names.items():
        data = markdown(*collection.documents[key]).encode()
        if not (folder / name).exists() or (folder / name).read_bytes() != data:
            (folder / name).write_bytes(data)
    return names


def markdown(title: str, text: str) -> str:
    """Return a document as a Markdown file; the title is a JSON string, which YAML reads whatever is in it."""
    folded = " ".join(title.split())
    return f"---\ntitle: {json.dumps(folded)}\n---\n\n{text}\n" if folded else f"{text}\n"


def report(done: int, total: int) -> None:
    """Say how far the vectors are."""
    print(f"\r{done} of {total} vectors made", end="" if done < total else "\n", file=sys.stderr, flush=True)


def queries(collection: Collection) -> Iterator[tuple[str, str]]:
    yield from collection.queries.items()


def search(catalog: Catalog, text: str, mode: str, names: Mapping[str, str]) -> list[str]:
    hits = catalog.search(Query(text, limit=DEPTH, mode=mode)).hits
    return [names[hit.record.source.path] for hit in hits]


def bm25s(collection: Collection, _: Path) -> Iterator[tuple[str, Run]]:
    """Yield what bm25s finds: stemmed, without stop words, title and text as one."""
    import bm25s as peer  # noqa: PLC0415 - optional
    import Stemmer  # noqa: PLC0415 - the same

    def tokens(texts: Sequence[str]) -> list[list[str]]:
        found: list[list[str]] = peer.tokenize(
            list(texts), stopwords="en", stemmer=Stemmer.Stemmer("english"), return_ids=False, show_progress=False
        )
        return found

    keys = list(collection.documents)
    index = peer.BM25()
    index.index(tokens([f"{title} {text}" for title, text in collection.documents.values()]), show_progress=False)
    asked = tokens(list(collection.queries.values()))
    found, scores = index.retrieve(asked, k=min(DEPTH, len(keys)), show_progress=False)
    rows = zip(collection.queries, found, scores, strict=True)
    yield (
        "bm25s",
        {query: [keys[int(i)] for i, s in zip(row, worth, strict=True) if s > 0] for query, row, worth in rows},
    )


def tantivy(collection: Collection, _: Path) -> Iterator[tuple[str, Run]]:
    """Yield what tantivy finds: stemmed, the title a field of its own."""
    import tantivy as peer  # noqa: PLC0415 - optional

    builder = peer.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    for field in ("title", "body"):
        builder.add_text_field(field, tokenizer_name="en_stem")
    index = peer.Index(builder.build())
    writer = index.writer(num_threads=1)  # more would spread documents over segments by chance
    for key, (title, text) in collection.documents.items():
        writer.add_document(peer.Document(id=key, title=title, body=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    run: Run = {}
    for key, text in queries(collection):
        query = index.parse_query(" ".join(re.findall(r"\w+", text.lower())), ["title", "body"])
        hits = searcher.search(query, DEPTH).hits
        run[key] = [str(searcher.doc(address).to_dict()["id"][0]) for _, address in hits]
    yield "tantivy", run


SYSTEMS: dict[str, Callable[[Collection, Path], Iterator[tuple[str, Run]]]] = {"bm25s": bm25s, "tantivy": tantivy}


# the figures


@dataclass(frozen=True, slots=True)
class Figures:
    """How good a run is, from 0 to 1."""

    ndcg: float  # of the first ten: good answers, and those first
    recall: float  # of the first hundred: the share of all answers


def judge(run: Run, collection: Collection) -> Figures:
    """Return the means over all queries; a query that found nothing counts 0."""
    pairs = [(run.get(query, []), collection.answers[query]) for query in collection.queries]
    return Figures(mean(ndcg(found, worth) for found, worth in pairs), mean(recall(*pair) for pair in pairs))


def ndcg(found: Sequence[str], worth: Mapping[str, int]) -> float:
    gain = discounted([worth.get(document, 0) for document in found[:TOP]])
    return gain / discounted(sorted(worth.values(), reverse=True)[:TOP])


def discounted(values: Sequence[int]) -> float:
    return sum(value / math.log2(place + 2) for place, value in enumerate(values))


def recall(found: Sequence[str], worth: Mapping[str, int]) -> float:
    return len(worth.keys() & set(found[:DEPTH])) / len(worth)


def measure(folders: Sequence[Path], work: Path) -> dict[str, dict[str, Figures]]:
    """Return the figures by system and collection."""
    figures: dict[str, dict[str, Figures]] = defaultdict(dict)
    systems = [ours, *(run for name, run in SYSTEMS.items() if importlib.util.find_spec(name))]
    for folder in folders:
        collection = read_collection(folder)
        for system in systems:
            for name, run in system(collection, work / collection.name):
                figures[name][collection.name] = judge(run, collection)
    return figures


def table(figures: Mapping[str, Mapping[str, Figures]], names: Sequence[str]) -> str:
    """Return the figures as a table of text, each cell nDCG@10 and recall@100."""
    lines = [["nDCG@10 / recall@100", *names, "mean"]]
    for system, by_name in figures.items():
        each = [by_name[name] for name in names]
        each.append(Figures(mean(one.ndcg for one in each), mean(one.recall for one in each)))
        lines.append([system, *(f"{one.ndcg:.3f} / {one.recall:.3f}" for one in each)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how well search finds what people judged to be answers.")
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER", help="a collection")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep files and vectors here for the next run")
    options = parser.parse_args()
    folders = options.folders or sorted(path.parent for path in COLLECTIONS.glob("*/corpus.jsonl"))
    if not folders:
        parser.error("there is no collection to measure with; name a folder that holds one")
    with tempfile.TemporaryDirectory(prefix="bookwheel-retrieval-") as work:
        figures = measure(folders, options.cache or Path(work))
    print(table(figures, [folder.name for folder in folders]))
    for name in SYSTEMS:
        if not importlib.util.find_spec(name):
            print(f"{name} is left out: it is not installed")


if __name__ == "__main__":
    main()
