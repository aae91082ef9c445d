"""Everything that touches private interfaces of Numba and llvmlite, for `engine/compiled.py` and the loops.

    linking        object_code: machine code of a function and all it calls, optimised once as a whole
    arguments      how Python hands numbers, arrays and tuples to a kernel, and gets numbers back
    pointers       bare pointers in compiled code, and calls by address
    lanes          eight float64 side by side; integer_lanes: eight int64; lane_access: load, store, sum, compare
    lane_arrays    arrays whose elements are lanes, one per run
    fields         a row of numbers whose elements have names

Supported versions of Numba and llvmlite are stated in pyproject.toml, and `tools/lowest_versions.py` tests the lowest.
"""
