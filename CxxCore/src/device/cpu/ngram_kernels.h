// The ops of n-gram embeddings on the CPU device.
#pragma once

#include "device/cpu/context.h"
#include "device/ngram_ops.h"

namespace pagoda::device::cpu {

Status ngram_embedding(const Context& context, const NgramEmbeddingArgs& args) noexcept;
void dilated_conv(const Context& context, const DilatedConvArgs& args) noexcept;

}  // namespace pagoda::device::cpu
