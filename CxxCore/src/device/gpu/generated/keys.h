// keys.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 6 "Shaders/keys.h"
METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
