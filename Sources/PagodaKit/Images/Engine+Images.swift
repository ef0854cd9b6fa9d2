// Images in prompts: each placeholder of the chat template becomes as many tokens as its image has.
internal import CxxCore

/// An image and its tokens in a prompt.
package struct PlacedImage: Hashable, Sendable {
  package var image: ImageInput
  package var firstToken: Int
  package var tokenCount: Int
}

/// How a model wants its images; the core's options in a form that tasks may share.
package struct ImageGeometry: Hashable, Sendable {
  var patchSize: Int32 = 0  // pixels per side
  var mergeSize: Int32 = 0  // patches per side of a token
  var temporalPatchSize: Int32 = 0
  var pixels: ClosedRange<Int64> = 0...0
  var mean: [Float] = []  // of red, green and blue
  var deviation: [Float] = []

  /// Tokens of an image with ``ImageInput/Detail/low``.
  static let lowDetailTokens: Int64 = 256

  init() {}

  init(_ options: pagoda.ImageOptions) {
    (patchSize, mergeSize) = (options.patch_size, options.merge_size)
    temporalPatchSize = options.temporal_patch_size
    pixels = min(options.min_pixels, options.max_pixels)...options.max_pixels
    mean = [options.mean.0, options.mean.1, options.mean.2]
    deviation = [options.std.0, options.std.1, options.std.2]
  }

  func options(for detail: ImageInput.Detail) -> pagoda.ImageOptions {
    var options = pagoda.ImageOptions()
    (options.patch_size, options.merge_size) = (patchSize, mergeSize)
    options.temporal_patch_size = temporalPatchSize
    let side = Int64(patchSize) * Int64(mergeSize)
    options.max_pixels =
      detail == .low ? min(pixels.upperBound, Self.lowDetailTokens * side * side) : pixels.upperBound
    options.min_pixels = min(pixels.lowerBound, options.max_pixels)
    if mean.count == 3 { options.mean = (mean[0], mean[1], mean[2]) }
    if deviation.count == 3 { options.std = (deviation[0], deviation[1], deviation[2]) }
    return options
  }
}

extension ModelInfo {
  /// The number of tokens that an image takes in a prompt. Throws if the model reads no images, or if the file is
  /// damaged, too large or of another format.
  public func tokenCount(of image: ImageInput) throws -> Int {
    try refuseImagesWithoutTower()
    let size = try image.pixelSize
    let options = imageGeometry.options(for: image.detail)
    let grid = pagoda.image_grid(Int32(clamping: size.width), Int32(clamping: size.height), options)
    try grid.status.throwIfError()
    return Int(grid.num_tokens)
  }

  func refuseImagesWithoutTower() throws {
    if readsImages { return }
    throw PagodaError.unsupported("this model reads text only: \(imageRefusal ?? "it has no vision tower")")
  }
}

extension Engine {
  /// The number of tokens that an image takes in a prompt.
  public func tokenCount(of image: ImageInput) throws -> Int { try info.tokenCount(of: image) }

  /// Replaces each placeholder, of which the template wrote one per image, by the tokens of its image.
  func place(_ images: [ImageInput], in ids: [Int32]) throws -> (ids: [Int32], placed: [PlacedImage]) {
    if images.isEmpty { return (ids, []) }
    try info.refuseImagesWithoutTower()
    let found = ids.count { $0 == imageTokenID }
    guard found == images.count else {
      throw PagodaError.unsupported(
        "the chat template of this model wrote \(found) placeholders for \(images.count) images")
    }
    var (all, placed): ([Int32], [PlacedImage]) = ([], [])
    for id in ids {
      guard id == imageTokenID else {
        all.append(id)
        continue
      }
      let image = images[placed.count]
      let count = try naming(placed.count + 1) { try tokenCount(of: image) }
      placed.append(PlacedImage(image: image, firstToken: all.count, tokenCount: count))
      all += repeatElement(id, count: count)
    }
    return (all, placed)
  }

  /// Decodes the images of a prompt, which takes milliseconds for each megapixel.
  func prepare(_ placed: [PlacedImage], for request: inout pagoda.Request) throws {
    for (index, each) in placed.enumerated() {
      var image = pagoda.PromptImage()
      image.first_token = Int32(clamping: each.firstToken)
      image.image = try naming(index + 1) {
        try each.image.prepared(info.imageGeometry.options(for: each.image.detail))
      }
      request.images.push_back(image)
    }
  }

  private func naming<Value>(_ number: Int, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch PagodaError.invalidArgument(let message) {
      throw PagodaError.invalidArgument("image \(number): \(message)")
    }
  }
}
