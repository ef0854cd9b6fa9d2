// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/image/files.cpp"
#include "../../src/image/prepare.cpp"
#include "../../src/image/resample.cpp"
#include "../../src/image/smart_resize.cpp"
