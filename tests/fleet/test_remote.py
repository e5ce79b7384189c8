"""Sources and tables in object storage, with an S3 server that the test starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from ctxview.fleet.queries import FleetQueryError
from ctxview.fleet.reader import FleetRequest, read_fleet
from ctxview.fleet.storage import StorageError, file_system, storage_at
from ctxview.fleet.vacuum import vacuum
from tests.fleet.sources import InlineEngine, answer, counts, fleet_tree, items_read, read, session
from tests.running import Run


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URL of an empty bucket."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "made-up")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        system, _ = file_system("s3://fleet-test")
        system.mkdir("fleet-test")
        yield "s3://fleet-test"
    server.stop()


@pytest.fixture(scope="module")
def tree(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree on disk, and its copy in the bucket."""
    root = fleet_tree(tmp_path_factory.mktemp("tree"))
    upload(root, f"{bucket}/tree")
    return root


def upload(folder: Path, url: str) -> None:
    system, path = file_system(url)
    for file in folder.rglob("*"):
        if file.is_file():
            system.pipe_file(f"{path}/{file.relative_to(folder)}", file.read_bytes())


def test_sources_behind_a_url_have_the_rows_of_sources_on_disk(
    bucket: str, tree: Path, tmp_path: Path
) -> None:
    on_disk, copied = tmp_path / "disk", tmp_path / "copied"
    read(tree, on_disk)
    read(f"{bucket}/tree", copied)

    assert counts(copied) == counts(on_disk)
    query = "SELECT replace(source, ?, ''), format, digest, bytes FROM sources ORDER BY 1"
    texts = [query.replace("?", f"'{place}'") for place in (tree, f"{bucket}/tree")]
    assert answer(copied, texts[1]) == answer(on_disk, texts[0])
    rows = answer(copied, "SELECT * FROM findings")
    assert not any("/tmp/" in str(each) for row in rows for each in row)


def test_a_second_run_copies_only_what_changed(bucket: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        upload(session(tmp_path / name), f"{bucket}/changing/{name}")
    assert read(f"{bucket}/changing", tmp_path / "out").sources == 2
    system, path = file_system(f"{bucket}/changing/two/state")
    system.pipe_file(path, b"idle\n")

    engine = InlineEngine()
    done = read(f"{bucket}/changing", tmp_path / "out", engine)

    assert (done.sources, done.unchanged) == (1, 1)
    assert items_read(engine) == [f"{bucket}/changing/two"]


def test_tables_behind_a_url_are_written_once_read_and_vacuumed(
    bucket: str, tree: Path, tmp_path: Path, ctxview: Run
) -> None:
    out = f"{bucket}/tables"
    read(tree, tmp_path)
    read(tree, out)
    read(tree, out, batch=50)
    storage = storage_at(out)
    name = next(iter(storage.files())).name
    storage.write(name, b"a second write of the same name changes nothing")

    assert counts(out) == counts(tmp_path)
    assert read(tree, out).unchanged == 21
    vacuum(storage)
    assert counts(out) == counts(tmp_path)
    assert len([*storage.files()]) == 5
    assert ctxview("fleet", "sql", out, "SELECT count(*) AS n FROM sources", "--format", "json").json == [
        {"n": 21}
    ]


def test_files_in_a_folder_that_is_not_a_source_are_looked_at_one_by_one(
    bucket: str, tree: Path, tmp_path: Path
) -> None:
    engine = InlineEngine()

    read(f"{bucket}/tree/logs", tmp_path, engine)

    names = [place.removeprefix(f"{bucket}/tree/") for place in items_read(engine)]
    assert names == [
        "logs",
        *(f"logs/{name}" for name in ("broken.json", "t0.jsonl", "t1.jsonl", "t2.jsonl", "t3.jsonl")),
    ]
    assert counts(tmp_path)["sources"] == 5


def test_urls_that_begin_alike_are_read_each(bucket: str, tmp_path: Path) -> None:
    for name in ("team", "team-2"):
        upload(session(tmp_path / name / "s"), f"{bucket}/{name}/s")
    request = FleetRequest((f"{bucket}/team", f"{bucket}/team-2"), str(tmp_path / "out"), 5)

    assert read_fleet(request, InlineEngine(), lambda progress: None).sources == 2
    assert read_fleet(request, InlineEngine(), lambda progress: None).unchanged == 2


def test_questions_about_tables_behind_a_url_reach_no_file_on_disk(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    upload(session(tmp_path / "s"), f"{bucket}/asked/s")
    read(f"{bucket}/asked", f"{bucket}/answers")

    assert answer(f"{bucket}/answers", "SELECT count(*) FROM sources") == [(1,)]
    for place in (f"{tmp_path}/x.csv", f"{bucket}/asked/s/messages.jsonl"):
        with pytest.raises(FleetQueryError, match="Permission"):
            answer(f"{bucket}/answers", f"SELECT * FROM read_csv('{place}')")


def test_an_object_that_no_file_can_be_is_an_error(bucket: str, tmp_path: Path) -> None:
    system, path = file_system(f"{bucket}/odd")
    system.pipe_file(f"{path}/s/messages.jsonl", b"")
    system.pipe_file(f"{path}/s/../../../x", b"out of the folder")

    done = read(f"{bucket}/odd", tmp_path / "out")

    assert done.errors == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("place", ["/nothing", "-that-is-missing/tree"])
def test_a_url_without_anything_is_an_error(bucket: str, tmp_path: Path, place: str) -> None:
    with pytest.raises(StorageError, match="there is no such file or folder"):
        read(f"{bucket}{place}", tmp_path)
