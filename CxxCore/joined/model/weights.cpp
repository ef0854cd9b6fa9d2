// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/model/weights/cache.cpp"
#include "../../src/model/weights/choose_dtype.cpp"
#include "../../src/model/weights/groups.cpp"
#include "../../src/model/weights/pieces.cpp"
#include "../../src/model/weights/row_table.cpp"
#include "../../src/model/weights/summary.cpp"
#include "../../src/model/weights/tied_head.cpp"
#include "../../src/model/weights/weights.cpp"
