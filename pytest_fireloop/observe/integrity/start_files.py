"""Which files start the tests where a command of the user's own does: what it names, what those name in turn, and more."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

#: What a program reads by itself, by the program's name.
READ_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(
        ("npm", "npx", "yarn", "pnpm", "bun"),
        ("package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml"),
    ),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"),
    "nox": ("noxfile.py",),
    "tox": ("tox.toml", "toxfile.py"),
    "hatch": ("hatch.toml",),
    "invoke": ("tasks.py",),
    "cargo": ("Cargo.toml", ".cargo/config.toml", "build.rs"),
    **dict.fromkeys(("mvn", "mvnw"), ("pom.xml", ".mvn/maven.config", ".mvn/jvm.config")),
    **dict.fromkeys(
        ("gradle", "gradlew"), ("build.gradle", "build.gradle.kts", "settings.gradle", "gradle.properties")
    ),
    **dict.fromkeys(("cmake", "ctest"), ("CMakeLists.txt", "CTestTestfile.cmake")),
    "docker": ("Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"),
    "direnv": (".envrc",),
}
#: What many programs read, whichever they are.
ANYWAY = (".env",)
#: Sources that are built rather than run: a command that names one names product.
BUILT = (
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".h",
    ".hpp",
    ".go",
    ".rs",
    ".java",
    ".kt",
    ".cs",
    ".swift",
    ".md",
    ".rst",
    ".txt",
)
#: Sources that start the tests only where an interpreter is told to run them.
RUN = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua")
INTERPRETER = re.compile(
    r"^(?:python|pypy)[\d.]*$|^(?:node|deno|bun|tsx|ts-node|ruby|perl|php|lua|exec|source|sh|bash)$|^\.$"
)
TOKEN = re.compile(r"[\w.+@%~/-]+")
#: A shell's variables and what it puts in the place of a command: mostly the folder before a name.
FILLED_IN = re.compile(r"\$(?:\{[^}\n]{0,200}\}|\([^)\n]{0,200}\)|\w+)")
#: What a project says in such a file beside how its tests are started.
INERT = frozenset({"version", "description", "keywords", "author", "license", "dependencies", "repository"})
TEXT_LIMIT, FILES_LIMIT = 200_000, 300


@dataclass(frozen=True, slots=True)
class StartFiles:
    """`paths` of the start; `words` of the command and its scripts; `elsewhere`, the names of files that no checkpoint holds.

    Of those, an interpreter is told to run the ones that are `run`, whatever they are called.
    """

    paths: frozenset[str]
    words: frozenset[str]
    elsewhere: frozenset[str]
    run: frozenset[str] = frozenset()

    def takes_over(self, path: str) -> bool:
        """Whether a new file is one that a program would read or run from now on."""
        name = path.rpartition("/")[2]
        is_read = any(each in {path, name} for each in (*self._read_by_programs(), *ANYWAY))
        return is_read or (name in self.words and "." not in name)

    def _read_by_programs(self) -> Iterator[str]:
        for program in READ_BY.keys() & self.words:
            yield from READ_BY[program]


def start_files(
    words: Collection[str], held: Collection[str], read: Callable[[str], bytes], is_product: Callable[[str], bool]
) -> StartFiles:
    """Follow a command through the files that it names; `held` are paths relative to the tree, `read` gives their bytes.

    What `is_product` says of a path is asked of scripts of languages in which products are written too.
    """
    by_name: dict[str, list[str]] = {}
    for path in held:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    found: dict[str, None] = {}
    seen: set[str] = set()
    elsewhere: set[str] = set()
    run: set[str] = set()
    pending = [("", " ".join(words), True)]

    def follow(path: str) -> None:
        if path not in found:
            found[path] = None
            pending.append((posixpath.dirname(path), _text(path, read(path)), False))

    while pending and len(found) < FILES_LIMIT:
        folder, source, is_command = pending.pop()
        for before, token in _tokens(source):
            seen.add(token.rpartition("/")[2])
            named = _named(token, folder, by_name)
            if not named and ("/" in token or is_command):
                elsewhere.add(token)
                if INTERPRETER.match(before.rpartition("/")[2]):
                    run.add(token)
            for path in named:
                runs = is_command or _is_run(path, before)
                if not path.endswith(BUILT) and (not path.endswith(RUN) or (runs and not is_product(path))):
                    follow(path)
        for program in READ_BY.keys() & seen:
            for name in READ_BY[program]:
                for path in by_name.get(name.rpartition("/")[2], ()):
                    if f"/{path}".endswith(f"/{name}"):
                        follow(path)
    anyway = {path for name in ANYWAY for path in by_name.get(name, ())}
    return StartFiles(frozenset(found) | anyway, frozenset(seen), frozenset(elsewhere), frozenset(run))


def same_start(path: str, old: bytes, new: bytes) -> bool:
    """Whether two contents of a file start the tests alike; a list of a project's packages is no start."""
    if old == new:
        return True
    if path.rpartition("/")[2] != "package.json":
        return False
    try:
        before, after = (json.loads(content) for content in (old, new))
        return bool(_bare(before) == _bare(after))
    except (ValueError, AttributeError, RecursionError):
        return False


def _bare(data: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in data.items() if name not in INERT}


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    """Yield each name that stands in a script, with the word before it on its line, options apart."""
    for line in source.splitlines():
        for variant in dict.fromkeys((line, FILLED_IN.sub("", line))):
            before = ""
            for token in TOKEN.findall(variant):
                yield before, token
                if not token.startswith("-"):
                    before = token


def _named(token: str, folder: str, by_name: Mapping[str, list[str]]) -> list[str]:
    """Return the files that a name can mean in a script of a folder: below it, below the tree, or by its last parts."""
    candidates = by_name.get(token.rpartition("/")[2], ())
    tail = token.lstrip("./~")
    exact = {posixpath.normpath(posixpath.join(base, token.lstrip("/"))) for base in (folder, "")}
    return [path for path in candidates if path in exact or ("/" in token and f"/{path}".endswith(f"/{tail}"))]


def _is_run(path: str, before: str) -> bool:
    program = before.rpartition("/")[2]
    return not path.endswith(RUN) or not before or INTERPRETER.match(program) is not None


def _text(path: str, content: bytes) -> str:
    """Return what of a file can name others: of a package's description its scripts, of Python what it imports too."""
    source = content[:TEXT_LIMIT].decode("utf-8", "replace")
    if path.rpartition("/")[2] == "package.json":
        try:
            scripts = json.loads(content).get("scripts", {})
            return "\n".join(map(str, scripts.values()))
        except (ValueError, AttributeError, RecursionError):
            return source
    if path.endswith(".py"):
        modules = re.findall(r"^\s*(?:from|import)\s+([\w.]+)", source, re.MULTILINE)
        return "\n".join((source, *(f"python {module.replace('.', '/')}.py" for module in modules)))
    return source
