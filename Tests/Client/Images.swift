// Images as a client sends and counts them.
import Foundation
import PagodaKit

/// A question about an image in a file and one in memory; nil if the model reads text only.
func question(_ engine: Engine, _ file: URL, _ bytes: Data) throws -> [Message]? {
  guard engine.info.readsImages else { return nil }
  let photo = try ImageInput(contentsOf: file)
  let scan = ImageInput(data: bytes, detail: .low)
  let (width, height) = try photo.pixelSize
  let isLarge = width * height > ImageInput.maximumPixels || bytes.count > ImageInput.maximumBytes
  if try isLarge || engine.tokenCount(of: photo) > engine.info.maximumImageTokens { return nil }
  return [.user("What is this?", images: [photo]), Message(role: .user, parts: [.image(scan), .text("And this?")])]
}

func noImages() -> ImageStatistics { ImageStatistics() }
