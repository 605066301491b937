"""The web page: which paths are its, what it sends along, and that nothing of Burrow's is taken away."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.golden.sites import CONFIGS, NOW_MS, told_state
from warren.serve.app import make_app
from warren.serve.page import Page

SCRIPT = "export const page = 1;\n" * 200


@pytest.fixture
def built(tmp_path: Path) -> Page:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text('<script src="./assets/app-1.js"></script><a href="./assets/i.svg"></a>')
    (tmp_path / "assets" / "app-1.js").write_text(SCRIPT)
    (tmp_path / "assets" / "secret.txt").write_text("not a file of the page")
    return Page(tmp_path)


def client_of(page: Page, config: str = "plain") -> TestClient:
    chosen = CONFIGS.get(config) or next(iter(CONFIGS.values()))
    app = make_app({"local": told_state()}, lambda: chosen, lambda: NOW_MS)
    app._page = page
    return TestClient(app, client=("127.0.0.1", 1))


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("/", "./assets/app-1.js"),
        ("/?theme=dark", "./assets/app-1.js"),
        ("/ui", "./assets/app-1.js"),
        ("/ui/incidents", "../assets/app-1.js"),
        ("/ui/clusters/local/groups/a%2Fb", "../../../../assets/app-1.js"),
    ],
)
def test_links_into_the_page_get_the_document_with_addresses_from_where_they_are(
    built: Page, path: str, script: str
) -> None:
    answer = client_of(built).get(path)

    assert answer.status_code == 200
    assert f'"{script}"' in answer.text


def test_a_document_that_the_browser_has_is_not_sent_again(built: Page) -> None:
    client = client_of(built)
    tag = client.get("/").headers["ETag"]

    again = client.get("/", headers={"If-None-Match": tag})

    assert (again.status_code, again.content) == (304, b"")


def test_a_file_is_sent_compressed_and_kept_for_ever(built: Page) -> None:
    answer = client_of(built).get("/assets/app-1.js")

    assert answer.text == SCRIPT
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"


def test_a_client_that_knows_no_compression_gets_the_plain_file(built: Page) -> None:
    answer = client_of(built).get("/assets/app-1.js", headers={"Accept-Encoding": "identity"})

    assert "Content-Encoding" not in answer.headers
    assert answer.text == SCRIPT


@pytest.mark.parametrize("path", ["/", "/ui/topics", "/assets/app-1.js"])
def test_nothing_but_the_pages_own_scripts_and_styles_may_run(built: Page, path: str) -> None:
    headers = client_of(built).get(path).headers

    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/uix", "/ui2/x", "/assets", "/assets/", "/assets/secret.txt", "/assets/../page.py", "/index.html", "/x"]
)
def test_every_other_path_is_what_it_is_with_burrow(built: Page, path: str) -> None:
    answer = client_of(built).get(path, follow_redirects=False)

    assert (answer.status_code, answer.text) == (404, '{"error":true,"message":"invalid request type","result":{}}\n')


def test_the_page_changes_nothing(built: Page) -> None:
    assert client_of(built).post("/").status_code == 404


def test_the_page_comes_without_a_token_and_the_api_does_not(built: Page) -> None:
    client = client_of(built, "tokens")

    assert client.get("/").status_code == 200
    assert client.get("/assets/app-1.js").status_code == 200
    assert client.get("/api/v1/clusters").status_code == 401


def test_where_it_was_not_built_it_says_so(tmp_path: Path) -> None:
    answer = client_of(Page(tmp_path)).get("/")

    assert answer.status_code == 404
    assert "make setup" in answer.text


def test_compression_is_the_same_each_time(built: Page) -> None:
    file = built.files["assets/app-1.js"]

    assert gzip.decompress(file.compressed) == file.body
    assert len(file.compressed) < len(file.body)
