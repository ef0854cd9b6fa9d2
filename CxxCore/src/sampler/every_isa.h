// PAGODA_EVERY_ISA: compiles a function once per instruction set, chosen when the program starts. Bits are the same: no
// set changes how a single operation rounds, and no two of them are fused.
#pragma once

#if defined(__x86_64__) && defined(__GLIBC__) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
#define PAGODA_EVERY_ISA __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PAGODA_EVERY_ISA
#endif
