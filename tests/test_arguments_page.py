"""The tables of arguments in the reference: every argument of every public function has a meaning, and no other."""

from __future__ import annotations

import inspect

import limbsweep as ls
from docs.site import arguments


def test_every_argument_has_a_meaning_and_every_meaning_an_argument() -> None:
    named = set()
    for name, function in arguments.functions():
        plain = inspect.unwrap(function)
        named |= {(name, key) for key, _, _ in arguments.parameters(plain)}
    assert [key for key in named if key not in arguments.SPECIAL and key[1] not in arguments.MEANINGS] == []
    assert sorted(set(arguments.SPECIAL) - set(named)) == []
    common = {argument for function, argument in named if (function, argument) not in arguments.SPECIAL}
    assert sorted(set(arguments.MEANINGS) - common) == []


def test_a_table_has_types_defaults_and_the_short_form() -> None:
    found = {row[0]: row[1:] for row in arguments.rows("inverse_dynamics", ls.inverse_dynamics)}
    assert found["`robot`"] == ("``Robot``", "required", arguments.MEANINGS["robot"])
    assert "`qdd`" in found["`**short`"][2]
    assert found["`parameters`"] == arguments.ADDED[1:]
    searched = {row[0]: row[1] for row in arguments.rows("search", ls.study.search)}
    assert searched["`seed`"] == "``int``"
    text = "\n".join(arguments.table("c_code", ls.c_code))
    assert "   * - argument\n     - type\n" in text
    assert r"positions (\*batch, actuator)" in "\n".join(arguments.table("forward_kinematics", ls.forward_kinematics))
