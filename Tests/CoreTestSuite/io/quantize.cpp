// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/io/quantize/affine_test.cpp"
#include "../../CxxCoreTests/io/quantize/files_test.cpp"
#include "../../CxxCoreTests/io/quantize/gguf_copy_test.cpp"
#include "../../CxxCoreTests/io/quantize/integers_test.cpp"
#include "../../CxxCoreTests/io/quantize/mixture_test.cpp"
#include "../../CxxCoreTests/io/quantize/tensors_test.cpp"
