// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/model/adapters/image.cpp"
#include "../../src/model/adapters/layout.cpp"
#include "../../src/model/adapters/pool.cpp"
