// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/device/reference/ops/gather_rows.cpp"
#include "../../src/device/reference/ops/gdn.cpp"
#include "../../src/device/reference/ops/gelu.cpp"
#include "../../src/device/reference/ops/index.cpp"
#include "../../src/device/reference/ops/latent_attention.cpp"
#include "../../src/device/reference/ops/matmul.cpp"
#include "../../src/device/reference/ops/ngrams.cpp"
#include "../../src/device/reference/ops/paged_attention.cpp"
