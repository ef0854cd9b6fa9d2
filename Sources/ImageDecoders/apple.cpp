// All formats through ImageIO, on Apple's systems. Not yet run on one.
#include "decoders.h"

#if defined(__APPLE__)

#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CoreGraphics.h>
#include <ImageIO/ImageIO.h>

#include <vector>

namespace pagoda::images {
namespace {

// Owns one reference.
template <class Ref>
struct Held {
  Ref ref;
  explicit Held(Ref reference) : ref(reference) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (ref != nullptr) CFRelease(ref);
  }
};

CGImageSourceRef open_source(Bytes file) {
  const Held<CFDataRef> data(
      CFDataCreateWithBytesNoCopy(nullptr, file.data(), static_cast<CFIndex>(file.size()), kCFAllocatorNull));
  return data.ref != nullptr ? CGImageSourceCreateWithData(data.ref, nullptr) : nullptr;
}

int32_t number_in(CFDictionaryRef properties, CFStringRef key, int32_t fallback) {
  int32_t value = fallback;
  const auto number = static_cast<CFNumberRef>(CFDictionaryGetValue(properties, key));
  if (number != nullptr) CFNumberGetValue(number, kCFNumberSInt32Type, &value);
  return value;
}

}  // namespace

ImageHeader read_apple_header(Bytes file, const char* format) {
  const std::string damaged = std::string("the ") + format + " file is damaged";
  const Held<CGImageSourceRef> source(open_source(file));
  if (source.ref == nullptr) return refused_header(refused(damaged));
  if (CGImageSourceGetCount(source.ref) > 1)
    return refused_header(
        refused(std::string("the ") + format + " file is an animation; only single images can be read"));
  const Held<CFDictionaryRef> properties(CGImageSourceCopyPropertiesAtIndex(source.ref, 0, nullptr));
  if (properties.ref == nullptr) return refused_header(refused(damaged));
  ImageHeader header;
  header.format = format;
  header.width = number_in(properties.ref, kCGImagePropertyPixelWidth, 0);
  header.height = number_in(properties.ref, kCGImagePropertyPixelHeight, 0);
  header.orientation = number_in(properties.ref, kCGImagePropertyOrientation, 1);
  return header;
}

Status decode_apple(Bytes file, const ImageHeader& header, std::span<uint8_t> rgb) {
  const Status damaged = refused("the " + header.format + " file is damaged: its pixels cannot be decoded");
  const Held<CGImageSourceRef> source(open_source(file));
  if (source.ref == nullptr) return damaged;
  const Held<CGImageRef> image(CGImageSourceCreateImageAtIndex(source.ref, 0, nullptr));
  if (image.ref == nullptr || CGImageSourceGetStatusAtIndex(source.ref, 0) != kCGImageStatusComplete) return damaged;
  const size_t width = static_cast<size_t>(header.width), height = static_cast<size_t>(header.height);
  std::vector<uint8_t> rgbx(width * height * 4, 255);  // white
  const Held<CGColorSpaceRef> space(CGColorSpaceCreateWithName(kCGColorSpaceSRGB));
  const Held<CGContextRef> context(CGBitmapContextCreate(rgbx.data(), width, height, 8, width * 4, space.ref,
                                                         static_cast<CGBitmapInfo>(kCGImageAlphaNoneSkipLast)));
  if (context.ref == nullptr) return make_error(StatusCode::out_of_memory, "no memory for the image's pixels");
  CGContextDrawImage(context.ref, CGRectMake(0, 0, static_cast<CGFloat>(width), static_cast<CGFloat>(height)),
                     image.ref);
  for (size_t i = 0; i < width * height; ++i) {
    for (size_t channel = 0; channel < 3; ++channel) rgb[i * 3 + channel] = rgbx[i * 4 + channel];
  }
  return ok_status();
}

}  // namespace pagoda::images

#endif
