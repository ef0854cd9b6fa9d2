// Annotations that tell the Swift importer how to manage our classes; our own copy, because <swift/bridging>
// is found on Linux only if the toolchain is in /usr.
#pragma once

#if defined(__clang__)
#define PAGODA_SHARED_REFERENCE(retain_function, release_function)                                        \
  __attribute__((swift_attr("import_reference"))) __attribute__((swift_attr("retain:" #retain_function))) \
  __attribute__((swift_attr("release:" #release_function))) __attribute__((swift_attr("@Sendable")))
#define PAGODA_RETURNS_RETAINED __attribute__((swift_attr("returns_retained")))
#define PAGODA_NONNULL _Nonnull
#define PAGODA_NULLABLE _Nullable
#else
#define PAGODA_SHARED_REFERENCE(retain_function, release_function)
#define PAGODA_RETURNS_RETAINED
#define PAGODA_NONNULL
#define PAGODA_NULLABLE
#endif
