"""Tables of numbers as text in machine code: each double by the shortest decimal that is read back as the same double.

The texts are the same as of `repr`, byte for byte. Decimals are found by Schubfach (Giulietti, see the bibliography): a
double and the borders of the numbers that round to it are multiplied by a power of ten of 128 bits; of the decimals
between the borders one that is a digit shorter is taken if there is one, else the nearest. No long number is divided.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tasks.kernels.llvm import compile_text

LONGEST = 25
"""Bytes of a cell with its separator, at most: `-2.2250738585072014e-308`."""
FIRST, LAST = -292, 324
"""Powers of ten that a double may need."""
SPARE = 64
"""Bytes after the text that may be written: pieces of a number are stored 32 bytes at a time."""

PIECES = """
define private ptr @digits(ptr %end, i64 %value) {
entry:
  br label %digit
digit:
  %v = phi i64 [ %value, %entry ], [ %q, %digit ]
  %at = phi ptr [ %end, %entry ], [ %here, %digit ]
  %q = udiv i64 %v, 10
  %tens = mul i64 %q, 10
  %rest = sub i64 %v, %tens
  %byte = trunc i64 %rest to i8
  %letter = add i8 %byte, 48
  %here = getelementptr i8, ptr %at, i64 -1
  store i8 %letter, ptr %here
  %more = icmp ne i64 %q, 0
  br i1 %more, label %digit, label %done
done:
  ret ptr %here
}
define private ptr @copy(ptr %to, ptr %from, i64 %count) {
  %letters = load <32 x i8>, ptr %from, align 1
  store <32 x i8> %letters, ptr %to, align 1
  %next = getelementptr i8, ptr %to, i64 %count
  ret ptr %next
}
define private ptr @letter(ptr %to, i8 %code) {
  store i8 %code, ptr %to
  %next = getelementptr i8, ptr %to, i64 1
  ret ptr %next
}
define private ptr @zeros(ptr %to, i64 %count) {
  store <32 x i8> splat (i8 48), ptr %to, align 1
  %next = getelementptr i8, ptr %to, i64 %count
  ret ptr %next
}
define private ptr @sign(ptr %to, i64 %bits) {
  store i8 45, ptr %to
  %minus = lshr i64 %bits, 63
  %next = getelementptr i8, ptr %to, i64 %minus
  ret ptr %next
}
"""
"""Functions that write pieces of a number and return the place after them; a letter is its code.

`digits` alone writes backwards, and returns the place of its first digit. `copy` and `zeros` store 32 bytes and count
as many as are asked for; `sign` stores a minus and counts it where the sign bit is set."""

INTEGER = """
define private ptr @integer(ptr %to, i64 %value) {
  %buffer = alloca [64 x i8], align 16
  %end = getelementptr i8, ptr %buffer, i64 24
  %signed = call ptr @sign(ptr %to, i64 %value)
  %minus = icmp slt i64 %value, 0
  %opposite = sub i64 0, %value
  %size = select i1 %minus, i64 %opposite, i64 %value
  %from = call ptr @digits(ptr %end, i64 %size)
  %e = ptrtoint ptr %end to i64
  %f = ptrtoint ptr %from to i64
  %count = sub i64 %e, %f
  %next = call ptr @copy(ptr %signed, ptr %from, i64 %count)
  ret ptr %next
}
"""
"""Function that writes a whole number."""

SHORTEST = """
define private i64 @scaled(i64 %high, i64 %low, i64 %value) {
  %h = zext i64 %high to i128
  %l = zext i64 %low to i128
  %v = zext i64 %value to i128
  %x = mul i128 %l, %v
  %y = mul i128 %h, %v
  %carried = lshr i128 %x, 64
  %sum = add i128 %y, %carried
  %top = lshr i128 %sum, 64
  %whole = trunc i128 %top to i64
  %rest = trunc i128 %sum to i64
  %some = icmp ugt i64 %rest, 1
  %odd = zext i1 %some to i64
  %result = or i64 %whole, %odd
  ret i64 %result
}
define private { i64, i64 } @shortest(i64 %fraction, i64 %exponent, ptr %powers) {
entry:
  %normal = icmp ne i64 %exponent, 0
  %hidden = or i64 %fraction, 4503599627370496
  %c = select i1 %normal, i64 %hidden, i64 %fraction
  %place = select i1 %normal, i64 %exponent, i64 1
  %q = sub i64 %place, 1075
  %closer.a = icmp eq i64 %fraction, 0
  %closer.b = icmp ugt i64 %exponent, 1
  %closer = and i1 %closer.a, %closer.b
  %near = zext i1 %closer to i64
  %cb = shl i64 %c, 2
  %cb.less = sub i64 %cb, 2
  %cbl = add i64 %cb.less, %near
  %cbr = add i64 %cb, 2
  %log = mul i64 %q, 1262611
  %log.near = sub i64 %log, 524031
  %log.of = select i1 %closer, i64 %log.near, i64 %log
  %k = ashr i64 %log.of, 22
  %k.minus = sub i64 0, %k
  %twos = mul i64 %k.minus, 1741647
  %twos.of = ashr i64 %twos, 19
  %h.0 = add i64 %q, %twos.of
  %h = add i64 %h.0, 1
  %row = add i64 %k.minus, FROM
  %power = getelementptr [2 x i64], ptr %powers, i64 %row
  %high = load i64, ptr %power
  %power.1 = getelementptr i64, ptr %power, i64 1
  %low = load i64, ptr %power.1
  %cbl.h = shl i64 %cbl, %h
  %cb.h = shl i64 %cb, %h
  %cbr.h = shl i64 %cbr, %h
  %vbl = call i64 @scaled(i64 %high, i64 %low, i64 %cbl.h)
  %vb = call i64 @scaled(i64 %high, i64 %low, i64 %cb.h)
  %vbr = call i64 @scaled(i64 %high, i64 %low, i64 %cbr.h)
  %odd = and i64 %c, 1
  %lower = add i64 %vbl, %odd
  %upper = sub i64 %vbr, %odd
  %s = lshr i64 %vb, 2
  %sp = udiv i64 %s, 10
  %long = icmp uge i64 %s, 10
  %sp.4 = mul i64 %sp, 40
  %sp.next = add i64 %sp.4, 40
  %up = icmp ule i64 %lower, %sp.4
  %wp = icmp ule i64 %sp.next, %upper
  %one.short = xor i1 %up, %wp
  %short = and i1 %long, %one.short
  %s.4 = shl i64 %s, 2
  %s.next = add i64 %s.4, 4
  %u = icmp ule i64 %lower, %s.4
  %w = icmp ule i64 %s.next, %upper
  %one = xor i1 %u, %w
  %mid = add i64 %s.4, 2
  %above = icmp ugt i64 %vb, %mid
  %tie = icmp eq i64 %vb, %mid
  %s.odd = trunc i64 %s to i1
  %tie.up = and i1 %tie, %s.odd
  %nearest = or i1 %above, %tie.up
  %rounded = select i1 %one, i1 %w, i1 %nearest
  %base = select i1 %short, i64 %sp, i64 %s
  %more.1 = select i1 %short, i1 %wp, i1 %rounded
  %more = zext i1 %more.1 to i64
  %decimal = add i64 %base, %more
  %short.1 = zext i1 %short to i64
  %power.of = add i64 %k, %short.1
  br label %strip
strip:
  %d = phi i64 [ %decimal, %entry ], [ %tenth, %ends ]
  %p = phi i64 [ %power.of, %entry ], [ %p.next, %ends ]
  %tenth = udiv i64 %d, 10
  %tenth.10 = mul i64 %tenth, 10
  %last = sub i64 %d, %tenth.10
  %ended = icmp eq i64 %last, 0
  br i1 %ended, label %ends, label %stripped
ends:
  %p.next = add i64 %p, 1
  br label %strip
stripped:
  %pair.d = insertvalue { i64, i64 } undef, i64 %d, 0
  %pair = insertvalue { i64, i64 } %pair.d, i64 %p, 1
  ret { i64, i64 } %pair
}
""".replace("FROM", str(-FIRST))
"""Function that returns the shortest decimal d 10^p between the borders of the numbers that round to a double.

`scaled` is value * power / 2^128, rounded to odd: the last bit is set where the remainder exceeds the error of the
power. Names are those of Schubfach: c 2^q is the double; cbl, cb and cbr are four times its lower border, itself and
its upper border; 10^k is the power of ten; s is the decimal below, sp the one below that is a digit shorter. The loop
takes zeros off the end."""

REAL = """
define private ptr @real(ptr %to, i64 %bits, ptr %powers) {
  %buffer = alloca [64 x i8], align 16
  %end = getelementptr i8, ptr %buffer, i64 24
  %fraction = and i64 %bits, 4503599627370495
  %shifted = lshr i64 %bits, 52
  %exponent = and i64 %shifted, 2047
  %signed = call ptr @sign(ptr %to, i64 %bits)
  %special = icmp eq i64 %exponent, 2047
  br i1 %special, label %unusual, label %usual
unusual:
  %infinite = icmp eq i64 %fraction, 0
  br i1 %infinite, label %infinity, label %nan
infinity:
  %i1 = call ptr @letter(ptr %signed, i8 105)
  %i2 = call ptr @letter(ptr %i1, i8 110)
  %i3 = call ptr @letter(ptr %i2, i8 102)
  ret ptr %i3
nan:
  %n1 = call ptr @letter(ptr %to, i8 110)
  %n2 = call ptr @letter(ptr %n1, i8 97)
  %n3 = call ptr @letter(ptr %n2, i8 110)
  ret ptr %n3
usual:
  %magnitude = shl i64 %bits, 1
  %zero = icmp eq i64 %magnitude, 0
  br i1 %zero, label %nothing, label %some
nothing:
  %o1 = call ptr @letter(ptr %signed, i8 48)
  %o2 = call ptr @letter(ptr %o1, i8 46)
  %o3 = call ptr @letter(ptr %o2, i8 48)
  ret ptr %o3
some:
  %decimal = call { i64, i64 } @shortest(i64 %fraction, i64 %exponent, ptr %powers)
  %d = extractvalue { i64, i64 } %decimal, 0
  %p = extractvalue { i64, i64 } %decimal, 1
  %from = call ptr @digits(ptr %end, i64 %d)
  %e = ptrtoint ptr %end to i64
  %f = ptrtoint ptr %from to i64
  %n = sub i64 %e, %f
  %point = add i64 %n, %p
  %small = icmp sle i64 %point, -4
  %large = icmp sgt i64 %point, 16
  %scientific = or i1 %small, %large
  br i1 %scientific, label %exponential, label %fixed
exponential:
  %x1 = call ptr @copy(ptr %signed, ptr %from, i64 1)
  %single = icmp eq i64 %n, 1
  %x2 = call ptr @letter(ptr %x1, i8 46)
  %from.1 = getelementptr i8, ptr %from, i64 1
  %n.1 = sub i64 %n, 1
  %x3 = call ptr @copy(ptr %x2, ptr %from.1, i64 %n.1)
  %x4 = select i1 %single, ptr %x1, ptr %x3
  %x5 = call ptr @letter(ptr %x4, i8 101)
  %ten = sub i64 %point, 1
  %below = icmp slt i64 %ten, 0
  %mark = select i1 %below, i8 45, i8 43
  %x6 = call ptr @letter(ptr %x5, i8 %mark)
  %ten.minus = sub i64 0, %ten
  %ten.of = select i1 %below, i64 %ten.minus, i64 %ten
  %ten.short = icmp ult i64 %ten.of, 10
  %ten.zero = zext i1 %ten.short to i64
  %x7 = call ptr @zeros(ptr %x6, i64 %ten.zero)
  %x8 = call ptr @integer(ptr %x7, i64 %ten.of)
  ret ptr %x8
fixed:
  %under = icmp sle i64 %point, 0
  br i1 %under, label %fractional, label %not.under
fractional:
  %f1 = call ptr @letter(ptr %signed, i8 48)
  %f2 = call ptr @letter(ptr %f1, i8 46)
  %gap = sub i64 0, %point
  %f3 = call ptr @zeros(ptr %f2, i64 %gap)
  %f4 = call ptr @copy(ptr %f3, ptr %from, i64 %n)
  ret ptr %f4
not.under:
  %over = icmp sge i64 %point, %n
  br i1 %over, label %integral, label %mixed
integral:
  %g1 = call ptr @copy(ptr %signed, ptr %from, i64 %n)
  %g2 = call ptr @zeros(ptr %g1, i64 %p)
  %g3 = call ptr @letter(ptr %g2, i8 46)
  %g4 = call ptr @letter(ptr %g3, i8 48)
  ret ptr %g4
mixed:
  %m1 = call ptr @copy(ptr %signed, ptr %from, i64 %point)
  %m2 = call ptr @letter(ptr %m1, i8 46)
  %from.p = getelementptr i8, ptr %from, i64 %point
  %n.p = sub i64 %n, %point
  %m3 = call ptr @copy(ptr %m2, ptr %from.p, i64 %n.p)
  ret ptr %m3
}
"""
"""Function that writes a double as `repr` does: `inf`, `nan`, `0.0`, with an exponent, or with a point.

%n digits have the decimal point before digit %point. From -3 to 16 the number is written without an exponent: all
digits after the point (`fractional`), all before it (`integral`), or some (`mixed`)."""

TABLE = """
define i64 @table(i64 %rows, i64 %columns, ptr %cells, ptr %reals, ptr %powers, ptr %out) {
entry:
  %size = mul i64 %rows, %columns
  %nothing = icmp sle i64 %size, 0
  br i1 %nothing, label %end, label %cell
cell:
  %i = phi i64 [ 0, %entry ], [ %i.next, %separated ]
  %j = phi i64 [ 0, %entry ], [ %j.next, %separated ]
  %to = phi ptr [ %out, %entry ], [ %after, %separated ]
  %at = getelementptr i64, ptr %cells, i64 %i
  %bits = load i64, ptr %at
  %kind.at = getelementptr i8, ptr %reals, i64 %j
  %kind = load i8, ptr %kind.at
  %is.real = icmp ne i8 %kind, 0
  br i1 %is.real, label %a.real, label %an.integer
a.real:
  %to.real = call ptr @real(ptr %to, i64 %bits, ptr %powers)
  br label %written
an.integer:
  %to.integer = call ptr @integer(ptr %to, i64 %bits)
  br label %written
written:
  %then = phi ptr [ %to.real, %a.real ], [ %to.integer, %an.integer ]
  %j.1 = add i64 %j, 1
  %ends = icmp eq i64 %j.1, %columns
  %j.next = select i1 %ends, i64 0, i64 %j.1
  br i1 %ends, label %row, label %next
row:
  %r1 = call ptr @letter(ptr %then, i8 13)
  %r2 = call ptr @letter(ptr %r1, i8 10)
  br label %separated
next:
  %c1 = call ptr @letter(ptr %then, i8 44)
  br label %separated
separated:
  %after = phi ptr [ %r2, %row ], [ %c1, %next ]
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %size
  br i1 %more, label %cell, label %end
end:
  %stop = phi ptr [ %out, %entry ], [ %after, %separated ]
  %stop.i = ptrtoint ptr %stop to i64
  %out.i = ptrtoint ptr %out to i64
  %bytes = sub i64 %stop.i, %out.i
  ret i64 %bytes
}
"""
"""Function that writes a table row by row and returns its bytes.

Cells are bits of doubles or whole numbers, as `reals` says by column. The letters 44, 13 and 10 are a comma, a carriage
return and a new line."""

TEXT = PIECES + INTEGER + SHORTEST + REAL + TABLE

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 4)


@functools.cache
def _powers() -> np.ndarray:
    """Return the powers of ten (power, 2): the upper and lower half of each with 128 bits, rounded up."""
    whole = []
    for power in range(FIRST, LAST + 1):
        ten = 10 ** abs(power)
        bits = ten.bit_length()
        if power < 0:
            value = (1 << (127 + bits)) // ten + 1
        else:
            value = ten << (128 - bits) if bits <= 128 else -(-ten >> (bits - 128))
        whole.append((value >> 64, value & ((1 << 64) - 1)))
    return np.array(whole, dtype=np.uint64)


@functools.cache
def _table() -> Any:
    return compile_text(TEXT, _SIGNATURE, name="table").call


def csv_rows(columns: Sequence[np.ndarray]) -> memoryview:
    """Return the rows of a table of CSV, each ended by a carriage return and a new line: doubles as `repr` writes them.

    columns: (row,) each, of floats or whole numbers of at most 64 bits with a sign.
    """
    reals = np.array([column.dtype.kind == "f" for column in columns], dtype=np.uint8)
    cells = np.empty((len(columns[0]), len(columns)), dtype=np.int64)
    for k, column in enumerate(columns):
        cells[:, k] = column.astype(np.float64, copy=False).view(np.int64) if reals[k] else column
    out = np.empty(cells.size * LONGEST + len(cells) + SPARE, dtype=np.uint8)
    arrays = (array.ctypes.data for array in (cells, reals, _powers(), out))
    return out.data[: _table()(len(cells), len(columns), *arrays)]
