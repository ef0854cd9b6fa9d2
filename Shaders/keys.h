// Maps floats to unsigned numbers in the same order; kernels compare these, so that infinities and NaNs are ordered
// too.
#pragma once

// Both zeros have the same key: they are equal, and the lower id wins.
METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

constant constexpr uint kMinusInfinityKey = 0x007fffffu;
constant constexpr uint kInfinityKey = 0xff800000u;  // NaNs are above it, or below the key of minus infinity
