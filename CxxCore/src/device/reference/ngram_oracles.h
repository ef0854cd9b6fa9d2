// The oracles of n-gram embeddings.
#pragma once

#include "device/ngram_ops.h"

namespace pagoda::device::reference {

Status ngram_embedding(const NgramEmbeddingArgs&) noexcept;
void dilated_conv(const DilatedConvArgs&) noexcept;

}  // namespace pagoda::device::reference
