// Image files on the command line: --image of generate and info, and /image of a chat.
import Foundation
import PagodaKit

extension Arguments {
  /// The files of --image, in the order given.
  func images() throws -> [ImageInput] { try (values["image"] ?? []).map(readImage) }
}

/// An image file, checked as far as its header tells.
func readImage(_ name: String) throws -> ImageInput {
  let path = NSString(string: name).expandingTildeInPath
  do {
    return try ImageInput(contentsOf: URL(filePath: path))
  } catch let error as PagodaError {
    throw CommandFailure(error.message)
  }
}

/// `1024 x 768 pixels, 768 tokens`.
func imageFacts(_ image: ImageInput, _ info: ModelInfo) throws -> (size: String, tokens: Int) {
  let (width, height) = try image.pixelSize
  return ("\(width) x \(height) pixels", try info.tokenCount(of: image))
}
