// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/latent_attention_test.cpp"
#include "../../CxxCoreTests/device/ngrams_test.cpp"
#include "../../CxxCoreTests/device/op_cost_test.cpp"
#include "../../CxxCoreTests/device/optional_devices_test.cpp"
#include "../../CxxCoreTests/device/packed_test.cpp"
#include "../../CxxCoreTests/device/rig.cpp"
#include "../../CxxCoreTests/device/row_tasks_test.cpp"
#include "../../CxxCoreTests/device/streams_test.cpp"
