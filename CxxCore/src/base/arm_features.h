// ArmFeatures: which optional multiply instructions this 64-bit ARM CPU has.
#pragma once

#if defined(__aarch64__)
#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace pagoda {

struct ArmFeatures {
  bool dotprod = false, i8mm = false, bf16 = false;
};

#if defined(__APPLE__)
inline bool has_arm_feature(const char* name) noexcept {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

inline ArmFeatures arm_features() noexcept {
  return {has_arm_feature("hw.optional.arm.FEAT_DotProd"), has_arm_feature("hw.optional.arm.FEAT_I8MM"),
          has_arm_feature("hw.optional.arm.FEAT_BF16")};
}
#elif defined(__linux__)
// HWCAP bits of the Linux ABI, spelled out because older headers lack the last two.
inline ArmFeatures arm_features() noexcept {
  constexpr unsigned long kDotprod = 1ul << 20, kI8mm = 1ul << 13, kBf16 = 1ul << 14;  // HWCAP, HWCAP2, HWCAP2
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  return {(first & kDotprod) != 0, (second & kI8mm) != 0, (second & kBf16) != 0};
}
#else
inline ArmFeatures arm_features() noexcept { return {}; }
#endif

}  // namespace pagoda
#endif
