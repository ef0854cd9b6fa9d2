// Adds the decoders to the program that this file is linked into.
#include "decoders.h"

namespace {

constexpr pagoda::ImageDecoder kDecoder{.read_header = &pagoda::images::read_header, .decode = &pagoda::images::decode};
[[maybe_unused]] const bool is_added = (pagoda_set_image_decoder(&kDecoder), true);

}  // namespace
