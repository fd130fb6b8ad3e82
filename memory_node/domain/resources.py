"""Files: those that ship beside the code, private ones, and YAML by the core schema of YAML 1.2, where `on` and `off`
are words and `1e-3` is a number."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import zlib
from pathlib import Path
from typing import Any

import yaml

from memory_node.domain.errors import ResourceMissingError

_PACKAGE = Path(__file__).resolve().parents[1]
_READERS = "robot_memory_readers"
MISSING_READERS = (
    "the weights of the trained readers are not installed (pip install ./readers in a checkout; on a robot "
    "scripts/install_libraries readers)"
)


def share_folders() -> list[Path]:
    """Return the folders that may hold our share files: checkout, pip package, ament share, in this order."""
    folders = [_PACKAGE.parent] if (_PACKAGE.parent / "package.xml").is_file() else []
    folders.append(_PACKAGE / "_share")
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    folders += [Path(prefix) / "share" / "robot_memory" for prefix in prefixes if prefix]
    return [folder for folder in folders if folder.is_dir()]


def resource_path(relative: str) -> Path:
    """Return the path of a shipped file or folder such as `config/memory.yaml`.

    Raises:
        ResourceMissingError: no share folder has it.
    """
    for folder in share_folders():
        if (folder / relative).exists():
            return folder / relative
    looked = ", ".join(str(folder) for folder in share_folders()) or "no share folder at all"
    raise ResourceMissingError(f"{relative} is not installed (looked in {looked}); install the package again")


def readers_folder() -> Path:
    """Return the folder for the weights of the trained readers: of the distribution `readers/`, or the checkout's.

    The folder need not be there: the weights are an extra, `MISSING_READERS` says how to install them.
    """
    found = importlib.util.find_spec(_READERS)
    if found is not None and found.submodule_search_locations:
        return Path(found.submodule_search_locations[0])
    return _PACKAGE.parent / "readers" / "src" / _READERS


def picture_prefix(record_id: str) -> str:
    """Return how the names of a thing's pictures begin: a digest, which is safe whatever the id contains."""
    return hashlib.sha256(record_id.encode(errors="surrogatepass")).hexdigest()[:32]


def picture_name(record_id: str, jpeg: bytes) -> str:
    """Return the file name of a picture of a thing; another picture has another name."""
    return f"{picture_prefix(record_id)}-{zlib.crc32(jpeg):08x}.jpg"


def make_private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that only its owner enters (0700); what is there stays as it is."""
    for missing in reversed([folder, *folder.parents]):
        missing.mkdir(exist_ok=True, mode=0o700)


def create_private(path: Path) -> None:
    """Make `path` a file that only its owner reads and writes (0600), creating it and its folder if need be.

    A file that is there is not opened: closing it would end the locks that SQLite has on it in this process.
    """
    path = Path(os.path.realpath(path))
    make_private_folder(path.parent)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not path.is_file():
            raise
        path.chmod(0o600)  # where nothing can be written, this says why


# libyaml's parser is ten times as fast, which start-up notices.
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOOLEAN, _FLOAT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:float"


class _CoreLoader(_Base):
    """PyYAML's safe loader with three changes: `on`, `off`, `yes` and `no` are words, `1e-3` is a number, and a key
    stands once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


_CoreLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOLEAN, _FLOAT)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_CoreLoader.add_implicit_resolver(_BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_CoreLoader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"^[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$"
    ),
    list("-+.0123456789"),
)


def read_yaml(path: Path) -> Any:
    """Return what a YAML file says."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_CoreLoader)


def compose_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Return what a YAML text says, and its node tree, which tells the line of each part; None for an empty text.

    Raises:
        yaml.YAMLError: it is no YAML.
    """
    loader = _CoreLoader(text)
    try:
        node = loader.get_single_node()
        return (None if node is None else loader.construct_document(node)), node
    finally:
        loader.dispose()
