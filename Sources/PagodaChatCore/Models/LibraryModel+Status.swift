// What the status bar says about downloads, which go on after the sheet that began them is closed.

extension LibraryModel {
  /// The model that is being downloaded, or the one whose download failed, in words; nil if there is nothing to say.
  public var downloadText: String? {
    var failed: String?
    for entry in entries {
      switch entry.state {
      case .downloading(let progress):
        guard let fraction = progress.fraction else { return localized("Downloading \(entry.id)") }
        return localized("Downloading \(entry.id): \(Int(fraction * 100)) %")
      case .failed: failed = failed ?? localized("The download of \(entry.id) failed")
      case .ready, .paused: break
      }
    }
    return failed
  }
}
