"""Sums of rows of a table, four numbers at a time, which the compiler does not do by itself if columns are few.

Every number is added as in the plain loop, in double precision and in the same order, to the same bits.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

# Number of values added at once.
_WIDTH = 4
_REFUSED = "only rows of floats in C order can be added"


def accumulate(total: Any, table: Any, rows: tuple[Any, ...], weights: tuple[Any, ...] = ()) -> None:
    """``total += (a + b) + (c + d)``, for these rows of the table (1, 2 or 4 of them), each times its weight if any."""
    if table.dtype.kind != "f" or not table.flags.c_contiguous:
        raise TypeError(_REFUSED)
    terms = [table[int(row)].astype(total.dtype) for row in rows]
    if weights:
        terms = [term * weight for term, weight in zip(terms, weights, strict=True)]
    total += _pairwise(terms, lambda a, b: a + b)


def _pairwise(terms: list[Any], add: Any) -> Any:
    while len(terms) > 1:
        terms = [add(terms[i], terms[i + 1]) for i in range(0, len(terms), 2)]
    return terms[0]


@intrinsic
def _accumulate(typing: Any, total: Any, table: Any, rows: Any, weights: Any) -> Any:
    doubles = total.dtype == types.float64 and table.dtype in (types.float32, types.float64)
    if not doubles or total.layout != "C" or table.layout != "C":
        raise TypingError(_REFUSED)
    single = table.dtype == types.float32
    number = ir.FloatType() if single else ir.DoubleType()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums, cells = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 1))
        n_columns = builder.extract_value(cells.shape, 1)
        places, factors = (cgutils.unpack_tuple(builder, args[i]) for i in (2, 3))
        starts = [builder.gep(cells.data, [builder.mul(row, n_columns)]) for row in places]

        def add(column: Any, width: int) -> None:
            """Add ``width`` numbers, beginning at this column."""
            double = ir.VectorType(ir.DoubleType(), width)

            def at(start: Any, kind: Any) -> Any:
                return builder.bitcast(builder.gep(start, [column]), ir.VectorType(kind, width).as_pointer())

            terms = [builder.load(at(start, number), align=4 if single else 8) for start in starts]
            if single:
                terms = [builder.fpext(term, double) for term in terms]
            for i, factor in enumerate(factors):
                lane = builder.insert_element(ir.Constant(double, ir.Undefined), factor, ir.IntType(32)(0))
                same = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
                terms[i] = builder.fmul(terms[i], builder.shuffle_vector(lane, lane, same))
            where = at(sums.data, ir.DoubleType())
            added = builder.fadd(builder.load(where, align=8), _pairwise(terms, builder.fadd))
            builder.store(added, where, align=8)

        zero, one, step = (ir.IntType(64)(n) for n in (0, 1, _WIDTH))
        whole = builder.and_(n_columns, ir.IntType(64)(-_WIDTH))
        with cgutils.for_range_slice(builder, zero, whole, step, inc=True) as (column, _):
            add(column, _WIDTH)
        with cgutils.for_range_slice(builder, whole, n_columns, one, inc=True) as (column, _):
            add(column, 1)
        return context.get_dummy_value()

    return types.void(total, table, rows, weights), generate


@overload(accumulate)
def _accumulate_compiled(total, table, rows, weights=()):
    return lambda total, table, rows, weights=(): _accumulate(total, table, rows, weights)
