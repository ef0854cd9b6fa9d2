// OpTime: where the time of a device goes, op by op, and which limit of the machine each op works against.
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

// Sums since the last take.
struct OpTime {
  std::string name;
  int64_t calls = 0;
  double seconds = 0;     // of wall clock
  double bytes = 0;       // that the op has to read and write at least
  double operations = 0;  // multiplications and additions
  OpLimit kind = OpLimit::read;
};

}  // namespace pagoda
