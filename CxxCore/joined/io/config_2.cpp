// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/config/model_config.cpp"
#include "../../src/io/config/olmo.cpp"
#include "../../src/io/config/preprocessor.cpp"
#include "../../src/io/config/rope.cpp"
#include "../../src/io/config/streams.cpp"
