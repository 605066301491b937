"""`python -m tests.golden` writes the answers anew, from the requests in the files; read the difference."""

from __future__ import annotations

from tests.golden.files import FILES, site_of, written_anew

if __name__ == "__main__":
    for path in FILES:
        before, after = path.read_text("utf-8"), written_anew(path)
        if before != after:
            path.write_text(after, "utf-8")
            print(f"{path.name} ({site_of(path)}) is different")
