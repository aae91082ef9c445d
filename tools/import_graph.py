"""Who imports whom in the package: the table and the picture of docs/architecture.md.

python tools/import_graph.py            # writes both
python tools/import_graph.py --check    # exit code 1 if the table is not what the sources say
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from pictures import stamp

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "logbarrier"
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "images" / "packages.svg"
BEGIN, END = "<!-- packages: written by tools/import_graph.py -->", "<!-- end of packages -->"

# Lowest first; a package imports itself and lower rows only.
ROWS: tuple[dict[str, str], ...] = (
    {"version": "the version"},
    {
        "base": "files, validation, locks, threads and checkpoints of runs, progress: no arms, no states",
        "statistics": "intervals, the bootstrap, quantiles",
    },
    {
        "engine": "compiled code in general: kernels and their cache, lanes, exp and log, random streams",
        "record": "what a simulation returns",
    },
    {
        "bandits": "problems, rules (one short file each), loops, the simulator",
        "contexts": "contextual bandits: problems, rules, regressions, the simulator",
        "mdps": "finite MDPs: problems, rules, the loop, the simulator, exact solutions",
    },
    {"agent": "online decisions: in memory, in a file, off-policy estimates"},
    {
        "theory": "the paper's mathematics as functions",
        "testing": "the conformance suite for user-defined rules",
        "studies": "many simulations: files, cells, the store, executors",
    },
    {"verify": "every statement of the paper, tried", "plots": "record -> figure"},
    {
        "planning": "what to run on a problem like yours",
        "report": "any study -> one self-contained page",
        "comparison": "the systems of the paper's tables, measured",
        "deep": "torch: the barrier as a function, Stable-Baselines3 policies, rescue",
    },
    {"paper": "the paper's experiments, claims and report"},
    {"lab_page": "the interactive page", "service": "the durable agent over HTTP"},
    {"cli": "one file per command"},
    {
        "__main__": "python -m logbarrier",
        "__init__": "the public names, listed in __init__.pyi",
        "extend": "what user-defined rules, problems and environments import, listed in extend.pyi",
    },
)
ROW = {name: row for row, names in enumerate(ROWS) for name in names}


def module_name(path: Path) -> str:
    """agent.agent for src/logbarrier/agent/agent.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def package(name: str) -> str:
    """The package a module is in."""
    return name.partition(".")[0]


def imports(name: str) -> dict[str, bool]:
    """Modules of the package that a module imports -> whether it does so when it is loaded itself."""
    path = FILES[name]
    package = path.relative_to(PACKAGE).parts[:-1]
    found: dict[str, bool] = {}
    for node, at_once in _imports_in(ast.parse(path.read_text(encoding="utf-8")), True):
        base = [*package[: len(package) - (node.level - 1)], *(node.module.split(".") if node.module else [])]
        for alias in node.names:
            target = ".".join([*base, alias.name])
            target = target if target in FILES else ".".join(base)
            found[target] = found.get(target, False) or at_once
    return found


def _imports_in(node: ast.AST, at_once: bool) -> list[tuple[ast.ImportFrom, bool]]:
    """Relative imports below a node, and whether they run when the module is loaded."""
    if isinstance(node, ast.ImportFrom):
        return [(node, at_once)] if node.level > 0 else []
    typing_only = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    later = isinstance(node, ast.FunctionDef) or typing_only
    return [pair for child in ast.iter_child_nodes(node) for pair in _imports_in(child, at_once and not later)]


def packages() -> dict[str, set[str]]:
    """Package -> the other packages it imports."""
    graph: dict[str, set[str]] = {name: set() for names in ROWS for name in names}
    for name in FILES:
        graph[package(name)] |= {package(other) for other in imports(name) if other} - {package(name)}
    return graph


def table() -> str:
    """The packages, highest first, with what they import."""
    graph, lines = packages(), ["| package | what is in it | imports |", "|---|---|---|"]
    for names in reversed(ROWS):
        for name, what in names.items():
            used = ", ".join(f"`{other}`" for other in sorted(graph[name], key=lambda other: (-ROW[other], other)))
            lines.append(f"| `{name}` | {what} | {used} |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """The page with today's table in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def without_detours(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that no longer way implies: a -> c is left out where a -> b -> c."""

    def reached(name: str) -> set[str]:
        return graph[name].union(*(reached(other) for other in graph[name]))

    return {name: used - set().union(*(reached(other) for other in used)) for name, used in graph.items()}


def plot() -> None:
    """Packages as boxes, one row per layer, an arrow to each package that is imported and not implied by another arrow."""
    from logbarrier.plots.style import COLOURS, panels, save_figure, styled

    graph = without_detours(packages())
    graph = {name: used for name, used in graph.items() if name not in ("version", "__main__", "__init__", "extend")}
    layers = [[name for name in names if name in graph] for names in ROWS]
    layers = [names for names in layers if names]
    place = {name: ((i + 1) / (len(names) + 1), height) for height, names in enumerate(layers) for i, name in enumerate(names)}
    with styled():
        figure, axes = panels(1, 1, size=(8.4, 6.4))
        for name, used in graph.items():
            for other in sorted(used & set(place)):
                arrow = {"arrowstyle": "-|>", "color": COLOURS[place[name][1] % 6], "alpha": 0.8, "shrinkA": 14, "shrinkB": 26}
                axes.annotate("", place[other], place[name], arrowprops={**arrow, "connectionstyle": "arc3,rad=0.06"})
        for name, (x, y) in place.items():
            box = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": COLOURS[y % 6], "linewidth": 1.4}
            axes.text(x, y, name, ha="center", va="center", fontsize=10, bbox=box)
        axes.set(xlim=(0, 1), ylim=(-0.6, len(layers) - 0.4))
        axes.axis("off")
    save_figure(figure, PICTURE)
    stamp(PICTURE, PICTURES[PICTURE.name])


PICTURES = {PICTURE.name: (plot, without_detours, ROWS, {name: sorted(used) for name, used in sorted(packages().items())})}


def main() -> None:
    """Write the page's table and picture, or check the table."""
    page = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        sys.exit(0 if page == with_table(page) else f"{PAGE.name}: run 'python tools/import_graph.py'")
    PAGE.write_text(with_table(page), encoding="utf-8")
    plot()


if __name__ == "__main__":
    main()
