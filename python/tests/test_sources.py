"""The digest of the code that a card carries: what belongs to it, and what does not."""

from __future__ import annotations

from pathlib import Path

from hosts import Host


def test_the_digest_of_the_code_covers_what_the_file_imports_and_no_folder(tmp_path: Path) -> None:
    text = (
        "import anabranch, json, msgpack\n"
        "from parts import gains\n"
        "class D(anabranch.Driver):\n"
        "    memoryless = True\n"
        "    def step(self, seen):\n"
        "        return anabranch.Command(steer=gains.K)\n"
    )

    def digest(name: str, gain: str = "0.5", main: str = text) -> str:
        folder = tmp_path / name
        (folder / "parts").mkdir(parents=True)
        (folder / "d.py").write_text(main)
        (folder / "parts" / "gains.py").write_text(f"K = {gain}\n")
        # Nothing of these is imported.
        (folder / "other.py").write_text(name)
        with Host("d.py", folder=folder) as host:
            return str(host.card()["code"])

    usual = digest("a")
    assert len(usual) == 32 and digest("elsewhere/b") == usual
    assert digest("c", gain="0.6") != usual
    assert digest("d", main=text + "# another\n") != usual
    # Python, installed packages and the kit are not the user's own code.
    names = 'from anabranch import sources\nclass E(D):\n    name = " ".join(sorted(sources._own_files()))\n'
    (tmp_path / "a" / "e.py").write_text(text + names)
    with Host("e.py", folder=tmp_path / "a") as host:
        assert host.card()["name"] == "anabranch_file parts.gains"
