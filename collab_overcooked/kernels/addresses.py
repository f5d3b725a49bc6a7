"""Numba types of the addresses that bound kernels get (see ``bound``), built on private parts of numba 0.68."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import int32, types, uint8
from numba.core.datamodel import default_manager
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)

FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")  # of an array, in memory
BYTE_ROWS = uint8[:, ::1]
KNOWN_LAYOUT = default_manager.lookup(int32[:])._fields == FIELDS


class ArraysAddress(types.Type):
    """Numba type of the address of a NamedTuple's arrays. The arrays' types are part of it and of the cache key."""

    def __init__(self, arrays: types.NamedTuple) -> None:
        self.arrays = arrays
        super().__init__(f"ArraysAddress({arrays})")

    @property
    def key(self) -> types.NamedTuple:
        """Key that distinguishes types of this class."""
        return self.arrays


register_model(ArraysAddress)(models.OpaqueModel)  # a pointer


@unbox(ArraysAddress)
def _unbox(_: ArraysAddress, address: Any, c: Any) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(address))


@infer_getattr
class _Fields(AttributeTemplate):
    key = ArraysAddress

    def generic_resolve(self, bound: ArraysAddress, name: str) -> Any:  # type: ignore[override]
        if name in bound.arrays.fields:
            return bound.arrays.types[bound.arrays.fields.index(name)]
        return None


@lower_getattr_generic(ArraysAddress)
def _load(context: Any, builder: Any, bound: ArraysAddress, address: Any, name: str) -> Any:
    memory = builder.bitcast(address, context.get_data_type(bound.arrays).as_pointer())
    place = builder.gep(memory, [context.get_constant(types.int32, k) for k in (0, bound.arrays.fields.index(name))])
    return _load_invariant(builder, place)


def _load_invariant(builder: Any, place: Any) -> Any:
    """Load a value member by member: LLVM splits the load of an aggregate and then forgets that it is invariant."""
    kind = place.type.pointee
    if not isinstance(kind, ir.Aggregate):
        member = builder.load(place)
        member.set_metadata("invariant.load", builder.module.add_metadata([]))
        return member
    loaded = kind(ir.Undefined)
    for k in range(len(kind)):
        member = _load_invariant(builder, builder.gep(place, [ir.IntType(32)(0), ir.IntType(32)(k)]))
        loaded = builder.insert_value(loaded, member, k)
    return loaded


class ByteRowsAddress(types.Type):
    """Numba type of the address of any number of byte arrays (B, bytes), each read by its number."""

    def __init__(self) -> None:
        super().__init__("ByteRowsAddress")


register_model(ByteRowsAddress)(models.OpaqueModel)
unbox(ByteRowsAddress)(_unbox)


@infer_global(operator.getitem)
class _RowsByNumber(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(BYTE_ROWS, args[0], types.intp) if isinstance(args[0], ByteRowsAddress) else None


@lower_builtin(operator.getitem, ByteRowsAddress, types.intp)
def _load_rows(context: Any, builder: Any, _: Any, passed: Any) -> Any:
    memory = builder.bitcast(passed[0], context.get_data_type(BYTE_ROWS).as_pointer())
    return builder.load(builder.gep(memory, [passed[1]]))
