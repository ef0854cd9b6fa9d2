// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/synthetic/files.cpp"
#include "../../src/io/synthetic/shapes.cpp"
#include "../../src/io/synthetic/text.cpp"
#include "../../src/io/synthetic/weights.cpp"
