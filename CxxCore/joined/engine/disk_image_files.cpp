// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/engine/disk/image_files.cpp"
