// The ops of n-gram embeddings, checked like those in ops.h. They return unsupported on devices without them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/ngram_ops.h"

namespace pagoda::ops {

Status ngram_embedding(device::Encoder& encoder, const device::NgramEmbeddingArgs& args) noexcept;
Status dilated_conv(device::Encoder& encoder, const device::DilatedConvArgs& args) noexcept;

}  // namespace pagoda::ops
