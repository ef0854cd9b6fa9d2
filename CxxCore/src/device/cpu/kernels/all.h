// Kernel source, in dependency order. Included by isa/*.cpp after vector.h, inside a namespace that defines the
// instruction set's properties.
// clang-format off: order matters
#include "device/cpu/kernels/rows.h"
#include "device/cpu/kernels/matmul.h"
#include "device/cpu/kernels/packed_weights.h"
#include "device/cpu/kernels/packed.h"
#include "device/cpu/kernels/unpacked.h"
#include "device/cpu/kernels/stored_panels.h"
#include "device/cpu/kernels/stored.h"
#include "device/cpu/kernels/float8.h"
#include "device/cpu/kernels/widened.h"
#include "device/cpu/kernels/attention_parts.h"
#include "device/cpu/kernels/kv_rows.h"
#include "device/cpu/kernels/attention.h"
#include "device/cpu/kernels/gdn.h"
#include "device/cpu/kernels/kda.h"
#include "device/cpu/kernels/streams.h"
#include "device/cpu/kernels/table.h"
