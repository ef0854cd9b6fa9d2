// PagodaMini: the embedded model as a separate product, so that programs without it are 23 MB smaller.
internal import MiniModel
import PagodaKit

extension ModelSource {
  /// The small embedded model: a demo and a test subject that needs no download.
  public static var mini: ModelSource { .embedded(miniFiles) }

  private static let miniFiles = EmbeddedModel(
    name: "mini",
    files: (0..<pagoda_mini_file_count()).map { index in
      let file = pagoda_mini_file(index)
      return EmbeddedModel.File(
        name: String(cString: file.name), bytes: UnsafeRawBufferPointer(start: file.data, count: file.size))
    })
}
