"""Images and videos of a study: files beside its YAML file, the only ones that its server sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from collab_overcooked.io.documents import Document, field_name
from collab_overcooked.io.text import one_line

MEDIA_TYPES: Mapping[str, Mapping[str, str]] = {
    "image": {
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".webp": "image/webp",
    },
    "video": {".mp4": "video/mp4", ".webm": "video/webm"},
}
"""Types by suffix; SVG is left out, as it can hold scripts."""
MEDIA_KEYS = (*MEDIA_TYPES, "alt")


@dataclass(frozen=True)
class Media:
    """An image or a video of a page or a question."""

    kind: Literal["image", "video"]
    file: str  # Path of the file, relative to the folder of the study file
    alt: str = ""  # Text for those who do not see it


@dataclass
class MediaReader:
    """Reader of images and videos.

    Attributes:
        doc: The study file.
        folder: Its folder; None for a study without one, whose files are not checked and not sent.
        files: Files that were named, by name.
    """

    doc: Document
    folder: Path | None
    files: dict[str, Path] = field(default_factory=dict)

    def read(self, *path: Any) -> Media | None:
        """Return the image or the video of a page or a question, None if it has none.

        Raises:
            DocumentError: Image, video and text do not belong together, or a suffix is not allowed.
        """
        doc, kinds = self.doc, [kind for kind in MEDIA_TYPES if kind in self.doc.at(*path)]
        if len(kinds) > 1:
            raise doc.error(f"{field_name(path)} must have one of image, video, not both", *path, kinds[1])
        if not kinds:
            if "alt" in doc.at(*path):
                raise doc.error(f"{field_name(path)}.alt needs an image or a video", *path, "alt")
            return None
        kind: Any = kinds[0]
        name, suffixes = doc.text(*path, kind), MEDIA_TYPES[kind]
        if Path(name).suffix.lower() not in suffixes:
            raise doc.refuse(f"be a file with one of the suffixes {', '.join(suffixes)}", *path, kind)
        if self.folder is not None:
            self.files[name] = self._file(name, *path, kind)
        return Media(kind, name, one_line(doc.text(*path, "alt", default="")))

    def _file(self, name: str, *path: Any) -> Path:
        assert self.folder is not None
        folder = self.folder.resolve()
        file = (folder / name).resolve()  # of links, what they lead to
        if not file.is_relative_to(folder):
            raise self.doc.refuse("be a file in the folder of the study file", *path)
        if not file.is_file():
            raise self.doc.refuse("be a file that exists in the folder of the study file", *path)
        return file


def media_type(file: Path) -> str:
    """Return the type of a file that a study names, for its header."""
    return {**MEDIA_TYPES["image"], **MEDIA_TYPES["video"]}[file.suffix.lower()]
