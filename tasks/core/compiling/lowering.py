"""How arrays and tuples of arrays become what LLVM is given, in fewer instructions than numba writes.

Kernels are given tuples of dozens of arrays. Numba counts references up where a variable is assigned, and
down where it ends. Half of what it wrote were such counts of arguments, which LLVM then removed. But the
caller holds an argument, and all that is in it, until the kernel returns: it is borrowed, and needs no count.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite.ir import Constant, Undefined  # type: ignore[import-untyped]
from numba.core import ir, types
from numba.core.datamodel.models import ArrayModel
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext

_Typing = Callable[[str], Any]


class KernelReferences(NRTContext):
    """Where the counted references of a value are; numba also takes out of it all that has none."""

    def __init__(self, context: Any, enabled: bool) -> None:
        super().__init__(context, enabled)  # type: ignore[no-untyped-call]
        self._counted: dict[Any, bool] = {}

    def are_in(self, kind: Any) -> bool:
        """Whether values of this type hold counted references."""
        if kind not in self._counted:
            self._counted[kind] = self._context.data_model_manager[kind].contains_nrt_meminfo()
        return self._counted[kind]

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list[tuple[Any, Any]]:
        """The counted references inside ``val``, each with its type."""
        if not self.are_in(ty):
            return []
        model = self._context.data_model_manager[ty]
        found = [(ty, model.get_nrt_meminfo(builder, val))] if model.has_nrt_meminfo() else []
        for inner, taken_out in model.traverse(builder):
            if self.are_in(inner):
                found.extend(self.get_meminfos(builder, inner, taken_out(val)))
        return found


class ArrayOfKernel(ArrayModel):
    """How an array is passed: without what follows from the type and the length of one with one axis.

    Numba passes seven values of each array; a kernel may be given a hundred arrays.
    """

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type)  # type: ignore[no-untyped-call]
        self._item_bytes = _item_bytes(fe_type)

    def get_argument_type(self) -> tuple[Any, ...]:
        """The types of what is passed."""
        own = tuple(super().get_argument_type())  # type: ignore[no-untyped-call]
        if not self._item_bytes:
            return own
        holder, parent, length, _, data, _, _ = own
        return holder, parent, data, length

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """What is passed of an array."""
        if not self._item_bytes:
            return tuple(super().as_argument(builder, value))  # type: ignore[no-untyped-call]
        return tuple(builder.extract_value(value, place) for place in (0, 1, 4, (5, 0)))

    def from_argument(self, builder: Any, value: Any) -> Any:
        """The array, of what was passed."""
        if not self._item_bytes:
            return super().from_argument(builder, value)  # type: ignore[no-untyped-call]
        holder, parent, data, length = value
        kind = self.get_value_type()  # type: ignore[no-untyped-call]
        size = Constant(length.type, self._item_bytes)
        parts: list[Any] = [Undefined] * len(kind.elements)
        parts[3], parts[6] = size, [size]
        array = Constant(kind, parts)
        for place, part in ((0, holder), (1, parent), (2, length), (4, data), ((5, 0), length)):
            array = builder.insert_value(array, part, place)
        return array


def _item_bytes(array: Any) -> int:
    """Bytes from each number to the next, where the type alone tells it; else 0."""
    is_number = isinstance(array.dtype, types.Integer | types.Float)
    return int(array.dtype.bitwidth) // 8 if is_number and array.ndim == 1 and array.layout == "C" else 0


class KernelLowering(Lower):
    """Numba's, but for variables that are borrowed, and those that are assigned once, at the beginning."""

    def init(self) -> None:
        """Find both; numba calls this first."""
        super().init()  # type: ignore[no-untyped-call]
        self._borrowed: frozenset[str] = frozenset()
        if self.generator_info is None and not self._disable_sroa_like_opt:
            assigned = Counter(name for block in self.blocks.values() for name, _ in _assignments(block))
            self._borrowed = borrowed_names(self.blocks, assigned, self._kind_of)
            # All other blocks come after the first one: what it assigns needs no place in memory.
            self._singly_assigned_vars |= {
                name
                for name, _ in _assignments(self.blocks[min(self.blocks)])
                if assigned[name] == 1 and not self._is_counted(name)
            }

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """The value of an assignment."""
        if inst.target.name not in self._borrowed:
            return super().lower_assign(ty, inst)  # type: ignore[no-untyped-call]
        value = inst.value
        if isinstance(value, ir.Arg):
            return self.fnargs[value.index]
        if isinstance(value, ir.Var):
            return self.loadvar(value.name)  # type: ignore[no-untyped-call]
        whole = self.loadvar(value.value.name)  # type: ignore[no-untyped-call]
        return self.builder.extract_value(whole, _place(value, self._kind_of(value.value.name)))

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store it; what was there is given back only where it was counted."""
        if self._is_counted(name):
            super().storevar(value, name, argidx)  # type: ignore[no-untyped-call]
            return
        self._alloca_var(name, self._kind_of(name))  # type: ignore[no-untyped-call]
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))  # type: ignore[no-untyped-call]

    def delvar(self, name: str) -> None:
        """The variable has ended."""
        if self._is_counted(name):
            super().delvar(name)  # type: ignore[no-untyped-call]

    def _is_counted(self, name: str) -> bool:
        return name not in self._borrowed and self.context.nrt.are_in(self._kind_of(name))

    def _kind_of(self, name: str) -> Any:
        return self.typeof(name)  # type: ignore[no-untyped-call]


def borrowed_names(
    blocks: Mapping[int, Any], assigned: Mapping[str, int], kind_of: _Typing
) -> frozenset[str]:
    """Names that are assigned once in all: arguments, members of their tuples, and other names for these."""
    found: set[str] = set()
    for place in sorted(blocks):
        for name, value in _assignments(blocks[place]):
            if assigned[name] == 1 and _is_borrowed(value, kind_of(name), found, kind_of):
                found.add(name)
    return frozenset(found)


def _is_borrowed(value: Any, kind: Any, found: set[str], kind_of: _Typing) -> bool:
    if isinstance(value, ir.Arg):
        return bool(kind_of(f"arg.{value.name}") == kind)
    if isinstance(value, ir.Var):
        return value.name in found and bool(kind_of(value.name) == kind)
    if not isinstance(value, ir.Expr) or value.op not in ("getattr", "static_getitem"):
        return False
    whole = kind_of(value.value.name)
    place = _place(value, whole) if value.value.name in found else None
    return place is not None and bool(whole[place] == kind)


def _place(taken: Any, whole: Any) -> int | None:
    """Which member of a tuple an expression takes; None where it is something else."""
    if taken.op == "getattr" and isinstance(whole, types.BaseNamedTuple):
        fields: tuple[str, ...] = whole.fields  # type: ignore[attr-defined]
        return fields.index(taken.attr) if taken.attr in fields else None
    if taken.op == "static_getitem" and isinstance(whole, types.BaseTuple) and type(taken.index) is int:
        return taken.index if 0 <= taken.index < len(whole) else None
    return None


def _assignments(block: Any) -> list[tuple[str, Any]]:
    return [(own.target.name, own.value) for own in block.find_insts(ir.Assign)]
