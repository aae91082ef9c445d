"""Linking kernels: functions are only translated until the kernel that calls them is optimised as a whole.

Numba optimises a function, and makes machine code of it with a wrapper for Python, before it compiles the function that calls
it. The caller is then optimised with all that it calls inside. In a kernel of a hundred functions that is nearly all of the
time. Here the library of a function is an `UnlinkedLibrary`, which holds LLVM code as translated. `object_code` links the
libraries of a kernel, optimises the whole, and makes machine code with one entry.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

ENTRY = "entry"
RAISED = 2.0  # what an entry writes where its last argument points if the function raised an exception


class UnlinkedLibrary(JITCodeLibrary):
    """The LLVM code of one function, not optimised, and the libraries of those it calls."""

    _in_use = False  # as a function that Python calls

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def whole(self) -> Any:
        """A module of this code and all that it calls."""
        module, below = self._final_module.clone(), self._below({})
        for library in below:
            if isinstance(library, UnlinkedLibrary):
                module.link_in(library._final_module, preserve=True)
        for library in below:  # last, since of these only what is called by then is taken
            if not isinstance(library, UnlinkedLibrary):
                module.link_in(library._get_module_for_linking(), preserve=True)
        return module

    def _below(self, found: dict[Any, None]) -> dict[Any, None]:
        for library in self._linking_libraries:
            if library not in found:
                found[library] = None
                if isinstance(library, UnlinkedLibrary):
                    library._below(found)
        return found

    def _get_module_for_linking(self) -> Any:
        """For a function outside that calls this one."""
        if self._shared_module is None:
            self._shared_module = self.whole()
            for function in self._shared_module.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        """Numba asks for the wrapper that Python calls. Functions of kernels have none; any other works as ever."""
        if not self._in_use and any(f.name == name and not f.is_declaration for f in self._final_module.functions):
            self._final_module, self._in_use = self.whole(), True
            self._optimize_final_module()
            self._finalize_final_module()
        return int(super().get_pointer_to_function(name)) if self._in_use else 0

    @property
    def codegen(self) -> Any:
        return self._codegen if self._in_use else _NoEnvironment


class _NoEnvironment:
    """Stub: compiled kernels need no Numba environment."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None: ...


@contextlib.contextmanager
def _collecting() -> Iterator[Any]:
    with global_compiler_lock:
        context = cpu_target.target_context
        rtsys.initialize(context)
        codegen = context.codegen()
        codegen._library_class = UnlinkedLibrary
        try:
            yield codegen
        finally:
            del codegen._library_class


def object_code(dispatcher: Any, signature: tuple[Any, ...], near: bool) -> tuple[bytes, list[str]]:
    """Machine code of a function of numbers and pointers, as an object file, and the names that it needs from outside.

    Its one symbol, `entry`, takes the arguments of the signature and a pointer to a float64. It returns what the function
    returns, and sets the float64 to RAISED if the function raises an exception. `near` code reads its constants relative to
    where it is, and so has them in registers over a loop; else it holds their addresses. What is faster depends on the code.
    """
    with _collecting() as codegen:
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature]
        module = result.library.whole()
        entry = llvm.parse_assembly(str(_entry(result.fndesc, result.target_context)))
        entry.data_layout = codegen._data_layout
        module.link_in(entry)
        for function in module.functions:
            if not function.is_declaration and function.name != ENTRY:
                function.linkage = "internal"
        manager, builder = codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap")
        manager.run(module, builder)
        manager, builder = codegen._module_pass_manager()
        manager.run(module, builder)
        needed = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
        return (_near_machine(codegen) if near else codegen._tm).emit_object(module), needed


def _near_machine(codegen: Any) -> Any:
    """Numba's target, but for code that lies within two gigabytes of its constants."""
    options: dict[str, Any] = {"opt": 3}
    codegen._customize_tm_options(options)
    options.update(reloc="pic", codemodel="default")
    return llvm.Target.from_default_triple().create_target_machine(**options)


def _entry(description: Any, context: Any) -> Any:
    module = context.create_module("entry")
    kind = context.call_conv.get_function_type(description.restype, description.argtypes)
    function = ir.Function(module, kind, description.llvm_func_name)
    arguments = [context.get_value_type(argument) for argument in description.argtypes]
    returned = context.get_value_type(description.restype)
    entry = ir.Function(module, ir.FunctionType(returned, [*arguments, ir.DoubleType().as_pointer()]), ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    status, value = context.call_conv.call_function(
        builder, function, description.restype, description.argtypes, entry.args[:-1]
    )
    with cgutils.if_unlikely(builder, status.is_error):
        builder.store(ir.Constant(ir.DoubleType(), RAISED), entry.args[-1])
    builder.ret(value)
    return module
