"""Arrays without an owner, for kernels that hand many arrays to many small functions.

Every function that is handed an array counts itself among its owners and no longer, atomically; with a
few dozen arrays that takes as long as the work, and threads wait for each other. What is borrowed is not
counted: its owner must outlive it, as a kernel's arguments outlive the call.
"""

from typing import Any

from numba.extending import intrinsic


def _borrowed(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), generate


#: The same array, not owned.
borrowed: Any = intrinsic(_borrowed)
