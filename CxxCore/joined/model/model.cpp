// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/model/batch_check.cpp"
#include "../../src/model/decoder.cpp"
#include "../../src/model/decoder_encode.cpp"
#include "../../src/model/decoder_part.cpp"
#include "../../src/model/load_model.cpp"
#include "../../src/model/pools.cpp"
#include "../../src/model/workspace.cpp"
#include "../../src/model/workspace_rows.cpp"
