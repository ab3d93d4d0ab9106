"""`linalg.generic`: a body of scalar operations at each point of an iteration space, as layers on whole tensors."""

from collections.abc import Sequence

import numpy as np

from .importer import Importer
from .products import begin_with, dot, first_place, reduce, rows_of
from .source import LINEAR_CONSTANT, AffineMap, Op, Reference, Region
from .views import View, counting, gather, part, slice_

REDUCTIONS = {"add": "sum", "mul": "product", "max": "max", "min": "min", "or": "max", "and": "min"}
"""Operations of `arith`, less what says their type, that a reduction may consist of."""

MAX_BODY = 200
"""How many operations a body may have."""

_LETTERS = ("imumf", "numf", "f", "si", "ui", "i")


def _kind(op: Op) -> str | None:
    """The kind of reduction that an operation of `arith` makes."""
    short = op.name.rpartition(".")[2]
    letters = next((end for end in _LETTERS if short.removesuffix(end) in REDUCTIONS and short.endswith(end)), None)
    return REDUCTIONS[short.removesuffix(letters)] if letters is not None else None


def generic(importer: Importer, op: Op) -> list[View]:
    """The results of a generic operation; those that nobody reads are left out where they cannot be made."""
    maps, kinds = op.attributes.get("indexing_maps", []), op.attributes.get("iterator_types", [])
    operands = [*op.groups.get("ins", ()), *op.groups.get("outs", ())]
    if len(maps) != len(operands) or not all(isinstance(row, AffineMap) and row.dims == len(kinds) for row in maps):
        raise op.error("an indexing map for each operand", str(len(maps)), kind="parse")
    views = [importer.value(op, name) for name in operands]
    extents = _extents(op, maps, views)
    inputs = len(op.groups.get("ins", ()))
    reduced = [axis for axis, kind in enumerate(kinds) if kind != "parallel"]
    space = _Space(importer, op, extents, reduced)
    given = [space.spread(view, row) for view, row in zip(views[:inputs], maps, strict=False)]
    starts = [(view, row) for view, row in zip(views[inputs:], maps[inputs:], strict=True)]
    return space.results(op.region(), given, starts)


def _extents(op: Op, maps: Sequence[AffineMap], views: Sequence[View]) -> list[int]:
    """The extents of the dims, from operands that are indexed by one alone."""
    found: dict[int, int] = {}
    for row_map, view in zip(maps, views, strict=True):
        if len(row_map.rows) != view.rank:
            raise op.error(f"maps of {view.rank} rows", str(len(row_map.rows)), kind="parse")
        for row, extent in zip(row_map.rows, view.shape, strict=True):
            for dim, factor in row.items():
                if dim == LINEAR_CONSTANT and len(row) == 1:
                    continue
                if len(row) > 1 or factor != 1 or dim >= row_map.dims:
                    lever = "windows are taken as named operations (conv_2d_nchw_fchw, pooling_nchw_max)"
                    raise op.error("one dim in each row of a map", str(row), lever)
                if found.setdefault(dim, extent) != extent:
                    raise op.error(f"extent {found[dim]} of d{dim}", str(extent), kind="shape")
    missing = next((dim for dim in range(maps[0].dims if maps else 0) if dim not in found), None)
    if missing is not None:
        raise op.error(f"an operand indexed by d{missing}", "none", kind="parse")
    return [found[dim] for dim in range(len(found))]


class _Space:
    """The iteration space of one operation."""

    def __init__(self, importer: Importer, op: Op, extents: Sequence[int], reduced: Sequence[int]) -> None:
        self.importer = importer
        self.op = op
        self.extents = extents
        self.reduced = reduced

    def spread(self, view: View, row_map: AffineMap) -> View:
        """An operand as a tensor over the whole space."""
        views = self.importer.views
        fixed = {axis: row.get(LINEAR_CONSTANT, 0) for axis, row in enumerate(row_map.rows) if _is_constant(row)}
        if any(view.shape[axis] > 1 for axis in fixed):
            starts = [fixed.get(axis, 0) for axis in range(view.rank)]
            sizes = [1 if axis in fixed else n for axis, n in enumerate(view.shape)]
            view = slice_(views, view, starts, sizes)
        if fixed:
            view = views.reshape(view, [n for axis, n in enumerate(view.shape) if axis not in fixed])
        dims = [next(iter(row)) for row in row_map.rows if not _is_constant(row)]
        if len(set(dims)) != len(dims):
            raise self.op.error("each dim once in a map", str(dims), "diagonals have no layer")
        return views.broadcast(view, dims, self.extents)

    def results(self, region: Region, given: Sequence[View], starts: Sequence[tuple[View, AffineMap]]) -> list[View]:
        """What each `outs` becomes."""
        last = region.ops[-1] if region.ops else None
        names = [name for name, _ in region.arguments]
        if last is None or len(names) != len(given) + len(starts) or len(last.operands) != len(starts):
            raise self.op.error("a body that yields a value for each of outs", "another", kind="parse")
        if len(region.ops) > MAX_BODY:
            raise self.op.error(f"a body of at most {MAX_BODY} operations", str(len(region.ops)), kind="limit")
        own = dict(zip(names, given, strict=False))
        outs = dict(zip(names[len(given) :], starts, strict=True))
        body = _Body(self, region, own, outs)
        results: list[View] = []
        for (start, row_map), value in zip(starts, last.operands, strict=True):
            out = names[len(given) + len(results)]
            made = body.reduction(value, out, start, row_map) if self.reduced else body.spread(value, row_map)
            if made is None and len(results) == 1:
                made = body.place(last.operands[0], names[len(given)], value, out, row_map)
            if made is None and results:  # the place of a maximum, which softmax does not read
                return results
            if made is None:
                lever = (
                    "a body combines its result with one value by add, mul, max or min; the place of one is not found"
                )
                raise self.op.error("a reduction of one value", f"%{value.lstrip('%')} of the body", lever)
            results.append(made)
        return results


def _is_constant(row: dict[int, int]) -> bool:
    return all(dim == LINEAR_CONSTANT for dim in row)


class _Body:
    """The body of a generic operation, each value a tensor over the space; made when it is first asked for."""

    def __init__(
        self, space: _Space, region: Region, own: dict[str, View], outs: dict[str, tuple[View, AffineMap]]
    ) -> None:
        self.space = space
        self.importer = space.importer
        self.made_by: dict[str, Op] = {}
        inside = {name for inner in region.ops for name, _ in inner.results}
        for inner in region.ops:
            later = next((name for name in inner.operands if name in inside and name not in self.made_by), None)
            if later is not None:
                raise inner.error("operands made before", later, kind="parse")
            self.made_by |= {name: inner for name, _ in inner.results}
        self.own = own
        self.outs = outs
        self.depends: dict[str, bool] = {}

    def reads_outs(self, name: str) -> bool:
        """Whether a value depends on what is reduced."""
        if name not in self.depends:
            inner = self.made_by.get(name)
            self.depends[name] = name in self.outs or (inner is not None and any(map(self.reads_outs, inner.operands)))
        return self.depends[name]

    def value(self, name: str) -> View:
        """A value of the body, or of what is around it."""
        if name in self.own:
            return self.own[name]
        if name in self.outs:
            view, row_map = self.outs[name]
            self.own[name] = self.space.spread(view, row_map)
            return self.own[name]
        inner = self.made_by.get(name)
        if inner is None:
            return self.importer.value(self.space.op, name)
        if inner.name == "linalg.index":
            axis = next((value for value in inner.values if isinstance(value, int)), inner.integer("dim", 0))
            index = counting(self.importer.views, self.space.extents, axis, self.importer.dtype(inner, "index"))
            self.own[name] = index
            return index
        if inner.name == "tensor.extract":
            self.own[name] = self._rows(inner)
            return self.own[name]
        given = [(operand, self.value(operand)) for operand in inner.operands]
        self.own[name] = self.importer.single(inner, dict(given))
        return self.own[name]

    def _rows(self, inner: Op) -> View:
        """Elements of a table, one of whose indices depends on data; the others are places in the space, or numbers."""
        views, extents = self.importer.views, self.space.extents
        table, places = self.importer.operand(inner, 0), inner.lists[0] if inner.lists else []
        dims: list[int | View] = []
        for axis, place in enumerate(places):
            by = self.made_by.get(place.name) if isinstance(place, Reference) else None
            if by is not None and by.name == "linalg.index":
                dims.append(next((value for value in by.values if isinstance(value, int)), 0))
                continue
            if not isinstance(place, Reference | int):
                raise inner.error("indices that are values or whole numbers", str(place)[:80], kind="parse")
            index = self.value(place.name) if isinstance(place, Reference) else views.splat(place, np.dtype("i8"), ())
            number = views.number(index)
            own = [dim for dim in range(index.rank) if index.extent(dim) > 1]
            if number is None and len(own) == 1 and (known := views.array(index)) is not None:
                line = known[tuple(slice(None) if dim == own[0] else 0 for dim in range(index.rank))]
                table = gather(views, table, line, axis)
                dims.append(own[0])
                continue
            if number is None:
                dims.append(index)
                continue
            table = part(views, table, axis, int(number), 1)
            dims.append(-1)
        data = [axis for axis, dim in enumerate(dims) if isinstance(dim, View)]
        if len(dims) != table.rank or len(data) > 1:
            raise inner.error("one index that depends on data for each table", str(len(data)))
        kept = [axis for axis, dim in enumerate(dims) if dim != -1]
        table = views.reshape(table, [table.shape[axis] for axis in kept])
        left = [dim for axis in kept if not isinstance(dim := dims[axis], View)]
        if not data:
            return views.broadcast(table, left, extents)
        index = dims[data[0]]
        assert isinstance(index, View)
        own = [axis for axis in range(index.rank) if index.extent(axis) > 1]
        if set(own) & set(left):
            raise inner.error("an index that depends on other dims than the rows' own", str(own))
        rows = views.reshape(_part(index, own), [extents[axis] for axis in own])
        made = rows_of(self.importer.make, table, kept.index(data[0]), rows)
        at = kept.index(data[0])
        return views.broadcast(made, [*left[:at], *own, *left[at:]], extents)

    def spread(self, name: str, row_map: AffineMap) -> View:
        """A value at each point of the space, as the result that a map describes."""
        return self._result(self.value(name), row_map, list(range(len(self.space.extents))))

    def _result(self, view: View, row_map: AffineMap, axes: Sequence[int]) -> View:
        """A tensor over `axes` of the space, in the order of the rows of a map; constant rows are extents of 1."""
        views = self.importer.views
        if view.rank == 0 and axes:
            view = views.broadcast(view, (), [self.space.extents[axis] for axis in axes])
        dims = [next(iter(row)) for row in row_map.rows if not _is_constant(row)]
        if sorted(dims) != sorted(axes):
            raise self.space.op.error(f"a result indexed by dims {list(axes)}", str(dims))
        turned = views.transpose(view, [list(axes).index(dim) for dim in dims])
        extents = iter(turned.shape)
        return views.reshape(turned, [1 if _is_constant(row) else next(extents) for row in row_map.rows])

    def reduction(self, name: str, out: str, start: View, row_map: AffineMap) -> View | None:
        """A reduction of a value into `out`; None where the body does something else."""
        inner = self.made_by.get(name)
        kind = _kind(inner) if inner is not None else None
        if inner is None or kind is None or len(inner.operands) != 2 or inner.operands.count(out) != 1:
            return None
        (value,) = (operand for operand in inner.operands if operand != out)
        if self.reads_outs(value):
            return None
        kept = [axis for axis in range(len(self.space.extents)) if axis not in self.space.reduced]
        made = self._product(value, row_map) if kind == "sum" else None
        if made is None:
            view = self.value(value)
            if view.rank == 0:
                view = self.importer.views.broadcast(view, (), self.space.extents)
            made = reduce(self.importer.make, kind, view, self.space.reduced)
        result = self._result(made, row_map, kept)
        result = result if result.dtype == start.dtype else self.importer.make.cast(result, start.dtype)
        return begin_with(self.importer.make, kind, result, start)

    def place(self, extreme: str, most: str, name: str, out: str, row_map: AffineMap) -> View | None:
        """The place of a maximum or minimum: `select(compare(value, most), index, out)`; None for another body."""
        best, chosen = self.made_by.get(extreme), self.made_by.get(name)
        kind = _kind(best) if best is not None else None
        if best is None or chosen is None or kind not in ("max", "min") or len(self.space.reduced) != 1:
            return None
        if chosen.name != "arith.select" or len(chosen.operands) != 3 or chosen.operands[2] != out:
            return None
        better, index = (self.made_by.get(operand) for operand in chosen.operands[:2])
        while index is not None and index.name == "arith.index_cast" and len(index.operands) == 1:
            index = self.made_by.get(index.operands[0])
        counted = index is not None and index.name == "linalg.index" and index.values[:1] == self.space.reduced[:1]
        direction = {"max": "gt", "min": "lt"}[kind]
        (value,) = [operand for operand in best.operands if operand != most] or [""]
        if better is None or better.operands != [value, most] or not counted or self.reads_outs(value):
            return None
        if not better.words or better.words[0] not in (f"o{direction}", f"s{direction}", f"u{direction}"):
            return None
        view, axis = self.value(value), self.space.reduced[0]
        dtype = self.importer.value(self.space.op, self.space.op.groups["outs"][1]).dtype
        kept = [dim for dim in range(len(self.space.extents)) if dim != axis]
        return self._result(first_place(self.importer.make, kind, view, axis, dtype), row_map, kept)

    def _product(self, name: str, row_map: AffineMap) -> View | None:
        """The sum of products of two operands that share all that is summed; over the axes that stay, in order."""
        inner = self.made_by.get(name)
        if inner is None or inner.name.rpartition(".")[2] not in ("mulf", "muli"):
            return None
        a, b = (self._uncast(operand) for operand in inner.operands)
        sides = [
            [axis for axis, n in enumerate(self.space.extents) if view.extent(axis) == n and n > 1] for view in (a, b)
        ]
        summed = [axis for axis in self.space.reduced if self.space.extents[axis] > 1]
        shared = [axis for axis in sides[0] if axis in sides[1]]
        batch = [axis for axis in shared if axis not in summed]
        if a.rank == 0 or not summed or any(axis not in shared for axis in summed) or sides[0] == sides[1]:
            return None
        views = self.importer.views
        left, right = (
            views.reshape(_part(v, axes), [self.space.extents[i] for i in axes])
            for v, axes in zip((a, b), sides, strict=True)
        )

        def place(axes: Sequence[int], wanted: Sequence[int]) -> list[int]:
            return [list(axes).index(axis) for axis in wanted]

        made = dot(
            self.importer.make,
            left,
            right,
            (place(sides[0], batch), place(sides[1], batch)),
            (place(sides[0], summed), place(sides[1], summed)),
        )
        order = [*batch, *(x for x in sides[0] if x not in shared), *(x for x in sides[1] if x not in shared)]
        kept = [axis for axis in range(len(self.space.extents)) if axis not in self.space.reduced]
        longer = [axis for axis in kept if axis in order]
        made = views.transpose(made, [order.index(axis) for axis in longer])
        shape = [self.space.extents[axis] for axis in kept if axis in longer or self.space.extents[axis] == 1]
        return views.broadcast(
            views.reshape(made, shape),
            place(kept, [x for x in kept if x in longer or self.space.extents[x] == 1]),
            [self.space.extents[x] for x in kept],
        )

    def _uncast(self, name: str) -> View:
        """A factor before it is widened: products of 8 bits are summed in 32."""
        inner = self.made_by.get(name)
        if inner is not None and inner.name in ("arith.extsi", "arith.extf", "arith.extui"):
            source = self.value(inner.operands[0])
            if source.dtype.itemsize == 1 or source.dtype.kind == "f":
                return source
        return self.value(name)


def _part(view: View, axes: Sequence[int]) -> View:
    """A view without what is repeated along other axes."""
    return View(
        view.source, view.perm, tuple(n if axis in axes else 1 for axis, n in enumerate(view.shape)), view.truth
    )


def reduce_op(importer: Importer, op: Op) -> list[View]:
    """`linalg.reduce` of one tensor, in its long and short form."""
    ins, outs = op.groups.get("ins", []), op.groups.get("outs", [])
    if len(ins) != 1 or len(outs) != 1:
        raise op.error("one operand", str(len(ins)))
    words = [word for word in op.words if word.startswith("arith.")]
    body = op.regions[0].ops[:-1] if op.regions else [Op(words[0], op.line)] if words else []
    kind = _kind(body[0]) if len(body) == 1 else None
    if kind is None:
        raise op.error("a body of one add, mul, max or min", " ".join(inner.name for inner in body))
    start, result = (
        importer.value(op, outs[0]),
        reduce(importer.make, kind, importer.value(op, ins[0]), op.integers("dimensions")),
    )
    return [begin_with(importer.make, kind, result, start)]
