// Compiled as one file; Tools/native/join.py writes this list.
#include "../../CxxCoreTests/device/gpu/kernel_table_test.cpp"
#include "../../CxxCoreTests/device/gpu/matmul_test.cpp"
#include "../../CxxCoreTests/device/gpu/paged_attention_test.cpp"
#include "../../CxxCoreTests/device/gpu/product_choice_test.cpp"
#include "../../CxxCoreTests/device/gpu/schedule.cpp"
#include "../../CxxCoreTests/device/gpu/software_test.cpp"
#include "../../CxxCoreTests/device/gpu/weight_loader_test.cpp"
