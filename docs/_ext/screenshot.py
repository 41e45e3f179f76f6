"""The picture of a report on the front page: ``python docs/_ext/screenshot.py`` after ``make docs``. Needs chromium."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parents[1]


def main() -> None:
    """Open the report of the gallery in a browser and keep the picture."""
    report = DOCS / "_static" / "examples" / "report.html"
    target = DOCS / "_static" / "report.png"
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.png"
        command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,900"]
        command += ["--virtual-time-budget=20000", f"--screenshot={picture}", report.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        with Image.open(picture) as image:
            image.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
