// PagodaMini: the model inside the program, in a product of its own, so that other programs are 23 MB smaller.
internal import MiniModel
import PagodaKit

extension ModelSource {
  /// The small model inside the program: a demonstration and a test subject, no download needed.
  public static var mini: ModelSource { .embedded(miniFiles) }

  private static let miniFiles = EmbeddedModel(
    name: "mini",
    files: (0..<pagoda_mini_file_count()).map { index in
      let file = pagoda_mini_file(index)
      return EmbeddedModel.File(
        name: String(cString: file.name), bytes: UnsafeRawBufferPointer(start: file.data, count: file.size))
    })
}
