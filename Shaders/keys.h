// Floats as unsigned numbers in the same order; kernels pick by these, for which infinities and NaNs are numbers too.
#pragma once

// Both zeros have one key: they are equal, and the lower id counts.
METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

constant constexpr uint kMinusInfinityKey = 0x007fffffu;
constant constexpr uint kInfinityKey = 0xff800000u;  // NaNs lie above it and below the other
