// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/latent_reads_test.cpp"
