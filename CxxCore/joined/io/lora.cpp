// Compiled as one file; Tools/native/join.py writes this list.
#include "../../src/io/lora/lora_config.cpp"
#include "../../src/io/lora/lora_file.cpp"
