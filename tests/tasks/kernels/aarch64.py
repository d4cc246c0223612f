"""Kernels compiled for AArch64 and run by an emulator: `unicorn`, and `pyelftools` to read the object file."""

from __future__ import annotations

import io
import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from tasks.kernels.emission.emitter import source
from tasks.kernels.kernel import Kernel
from tasks.kernels.keys import LANES, Arrays, padded
from tasks.kernels.llvm import OPTIMISATION
from tasks.kernels.program import Program

unicorn = pytest.importorskip("unicorn", reason="needs the extra test-aarch64")
pytest.importorskip("elftools", reason="needs the extra test-aarch64")

TRIPLE = "aarch64-unknown-linux-gnu"
CODE, STACK, END = 0x10000, 0x7000000, 0x8000000
"""Addresses of code and constants, of the stack, and where the function returns to. Arrays stay where they are."""
STACK_SIZE = 1 << 20
PAGE = mmap.PAGESIZE
FLOATING_POINT = 3 << 20
"""Bits of CPACR_EL1 that allow instructions of vectors and floating point."""
MOVES = {263: 0, 264: 0, 265: 16, 266: 16, 267: 32, 268: 32, 269: 48}
"""Shift of each relocation of MOVZ and MOVK, R_AARCH64_MOVW_UABS_G0 to G3 (ELF for the Arm 64-bit Architecture)."""


class EmulatedKernel(Kernel):
    """A program as the code of another processor; arguments as of `Kernel`."""

    def __init__(self, program: Program):
        super().__init__(program, compiled=False)
        self.image, self.entry = _image(_object_file(program))

    def __call__(self, inputs: Arrays, samples: int, out: Arrays | None = None) -> Arrays:
        from unicorn import arm64_const as registers

        cases = max((inputs[name].shape[0] for name in (*self.program.case, *self.program.sample)), default=1)
        out = self.allocate(cases, samples) if out is None else out
        pointers, strides = self._arguments(inputs, out, cases, padded(samples))
        arrays = [np.frombuffer(pointers, dtype=np.uint8), np.frombuffer(strides, dtype=np.uint8)]
        machine = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        machine.mem_map(CODE, _pages(CODE, len(self.image))[1] - CODE)
        machine.mem_write(CODE, bytes(self.image))
        machine.mem_map(STACK, STACK_SIZE)
        machine.mem_map(END, PAGE)
        for begin, end in _merged(_span(array) for array in (*arrays, *inputs.values(), *out.values())):
            machine.mem_map_ptr(begin, end - begin, unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE, begin)
        machine.reg_write(registers.UC_ARM64_REG_CPACR_EL1, FLOATING_POINT)
        addresses = [array.__array_interface__["data"][0] for array in arrays]
        for k, value in enumerate((cases, padded(samples) // LANES, samples, *addresses)):
            machine.reg_write(registers.UC_ARM64_REG_X0 + k, value)
        machine.reg_write(registers.UC_ARM64_REG_SP, STACK + STACK_SIZE)
        machine.reg_write(registers.UC_ARM64_REG_LR, END)
        machine.emu_start(CODE + self.entry, END)
        return out


def _object_file(program: Program) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE).create_target_machine(
        "generic", "", opt=OPTIMISATION, reloc="static", codemodel="large"
    )
    return target.emit_object(llvm.parse_assembly(source(program)))


def _image(code: bytes) -> tuple[bytearray, int]:
    """Sections of an object file one after the other as they lie from CODE on, and where `kernel` begins in them."""
    from elftools.elf.constants import SH_FLAGS
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection

    file = ELFFile(io.BytesIO(code))
    image, places = bytearray(), dict[int, int]()
    for number, section in enumerate(file.iter_sections()):
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            image.extend(bytes(-len(image) % max(section["sh_addralign"], 1)))
            places[number] = len(image)
            image.extend(section.data())
    symbols = file.get_section_by_name(".symtab")
    for section in file.iter_sections():
        if not isinstance(section, RelocationSection) or "eh_frame" in section.name:
            continue
        for relocation in section.iter_relocations():
            _relocate(image, places[section["sh_info"]], relocation, _address(symbols, relocation, places))
    (kernel,) = symbols.get_symbol_by_name("kernel")
    return image, places[kernel["st_shndx"]] + kernel["st_value"]


def _address(symbols: Any, relocation: Any, places: dict[int, int]) -> int:
    symbol = symbols.get_symbol(relocation["r_info_sym"])
    return CODE + places[symbol["st_shndx"]] + symbol["st_value"] + relocation["r_addend"]


def _relocate(image: bytearray, place: int, relocation: Any, address: int) -> None:
    """Write the part of an address that an instruction of a relocation holds into its bits 5 to 20."""
    at, shift = place + relocation["r_offset"], MOVES[relocation["r_info_type"]]
    word = int.from_bytes(image[at : at + 4], "little") & ~(0xFFFF << 5)
    image[at : at + 4] = (word | (address >> shift & 0xFFFF) << 5).to_bytes(4, "little")


def _span(array: np.ndarray) -> tuple[int, int]:
    begin, end = np.lib.array_utils.byte_bounds(array)
    return _pages(begin, end - begin)


def _pages(begin: int, size: int) -> tuple[int, int]:
    return begin // PAGE * PAGE, -(-(begin + size) // PAGE) * PAGE


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges of pages without overlap."""
    before: tuple[int, int] | None = None
    for begin, end in sorted(spans):
        if before and begin <= before[1]:
            before = (before[0], max(end, before[1]))
        else:
            if before:
                yield before
            before = (begin, end)
    if before:
        yield before
