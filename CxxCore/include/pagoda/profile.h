// OpTime: the device's time per op, and the machine limit that bounds each op.
#pragma once

#include <cstdint>
#include <string>

namespace pagoda {

enum class OpLimit : int32_t {
  read = 0,  // memory bandwidth
  int8,      // integer products
  bf16,      // bfloat16 products
  f32,       // float products
};

// Totals since the last call.
struct OpTime {
  std::string name;
  int64_t calls = 0;
  double seconds = 0;     // wall-clock time
  double bytes = 0;       // minimum bytes to read and write
  double operations = 0;  // multiplications and additions
  OpLimit kind = OpLimit::read;
};

}  // namespace pagoda
