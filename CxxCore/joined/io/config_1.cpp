// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/config/experts.cpp"
#include "../../src/io/config/families.cpp"
#include "../../src/io/config/fields.cpp"
#include "../../src/io/config/latents.cpp"
