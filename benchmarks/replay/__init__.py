"""Compare the LLVM text of two versions of the compiler, kernel by kernel and form by form.

A change that only moves a decision must not change the code. `python -m benchmarks.replay --against main` emits LLVM
text with this tree and with a git revision, and lists the differences. It covers every bench row, example and library
kernel, the functions in `functions.py` and some programs of the fuzzer, for AVX2 and AVX-512, in every form that a call
may take. No machine code is made, so it takes a minute or two.
"""
