// What ImageInput needs from the core, for the adapter's check, which compiles no C++: the adapter reads no images.
extension ImageInput {
  static var maximumBytes: Int { 0 }

  var pixelSize: (width: Int, height: Int) {
    get throws { throw PagodaError.unsupported("no images here") }
  }
}
