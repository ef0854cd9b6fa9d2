// DownloadPlan: what a download needs on disk and in memory, and what to take instead, before its first byte.
import PagodaHub
import PagodaKit

/// A model on the hub as this machine would run it.
package struct DownloadPlan: Sendable {
  /// A weight format and the memory that the model needs in it.
  package struct Form: Sendable, Equatable {
    package var name: String?  // of --quantize; nil for the format of the file
    package var bytes: Int64

    package init(_ name: String?, _ bytes: Int64) {
      self.name = name
      self.bytes = bytes
    }
  }

  package var missingBytes: Int64
  package var freeDiskBytes: Int64?
  package var memoryBytes: Int64
  /// The format that would be used first, then smaller ones.
  package var forms: [Form]
  /// A model that fits, if no format of this one does, or the disk has no room: a command and its memory.
  package var instead: String?

  package init(missingBytes: Int64, freeDiskBytes: Int64?, memoryBytes: Int64, forms: [Form], instead: String? = nil) {
    self.missingBytes = missingBytes
    self.freeDiskBytes = freeDiskBytes
    self.memoryBytes = memoryBytes
    self.forms = forms
    self.instead = instead
  }

  /// The first format that fits.
  package var fitting: Form? { forms.first { $0.bytes <= memoryBytes } }

  package var fitsOnDisk: Bool { freeDiskBytes.map { missingBytes <= $0 } ?? true }

  /// The format to use instead of the first one, if only a smaller one fits: the value of --quantize.
  package var smallerForm: String? { fitting == forms.first ? nil : fitting?.name }

  /// What to ask before the download, and what Enter means.
  package var question: (text: String, byDefault: Bool) {
    let size = readable(bytes: missingBytes)
    if let smallerForm { return ("Fetch it (\(size)) and use --quantize \(smallerForm)?", true) }
    let isUsable = forms.isEmpty || fitting != nil
    return (isUsable ? "Fetch it (\(size))?" : "Fetch it anyway (\(size))?", isUsable)
  }

  /// Lines that end with a line break.
  package var text: String {
    let other = instead.map { "This would fit: \($0)\n" } ?? ""
    let disk = freeDiskBytes.map { ", \(readable(bytes: $0)) free on the disk" } ?? ""
    let download = "Download: \(readable(bytes: missingBytes))\(disk)\(fitsOnDisk ? "" : ": does not fit").\n"
    return download + memoryText + other
  }

  private var memoryText: String {
    guard let first = forms.first else { return "" }
    let limit = "of \(readable(bytes: memoryBytes))"
    let memory = "Memory: about \(readable(bytes: first.bytes)) \(limit)"
    guard let fitting else {
      let smallest = forms.last.flatMap(\.name).map { ", not even with --quantize \($0)" } ?? ""
      return "\(memory): does not fit\(smallest).\n"
    }
    if fitting == first { return "\(memory): fits.\n" }
    let option = fitting.name.map { "--quantize \($0)" } ?? ""
    return "\(memory): does not fit. With \(option) it fits: about \(readable(bytes: fitting.bytes)).\n"
  }
}

extension Arguments {
  /// The plan of a download for these options; the memory is that of a chat of 16,384 tokens.
  func downloadPlan(_ room: PullRoom, of model: ModelName) async -> DownloadPlan? {
    guard var options = try? singleUserOptions() else { return nil }
    options.maximumModelLength = options.maximumModelLength ?? advisedContext
    let shape = String(model.repository.drop { $0 != "/" }.dropFirst()).lowercased()
    var tiny = options
    tiny.maximumModelLength = 16
    // The device's limit does not depend on the model.
    guard let limit = (try? await Engine.inspect(.shape("tiny"), options: tiny))?.plan.deviceLimitBytes else {
      return nil
    }
    let given = options.quantize == .automatic ? nil : options.quantize.rawValue
    var forms: [DownloadPlan.Form] = []
    for form in [given, "8bit", "4bit"] as [String?] where !forms.contains(where: { $0.name == form }) {
      options.quantize = form.flatMap { EngineOptions.Quantization(rawValue: $0) } ?? .automatic
      let planned = (try? await Engine.inspect(.shape(shape), options: options))?.plan.totalBytes
      if let bytes = planned ?? estimate(room, form) { forms.append(.init(form, bytes)) }
    }
    var plan = DownloadPlan(
      missingBytes: room.missingBytes, freeDiskBytes: room.freeBytes, memoryBytes: limit, forms: forms)
    let isUseless = !plan.fitsOnDisk || (!forms.isEmpty && plan.fitting == nil)
    let fitting = await isUseless ? fittingModels().last { $0.downloadBytes < room.freeBytes ?? .max } : nil
    if let other = fitting {
      plan.instead =
        "pagoda chat \(other.shortName) --quantize \(other.form) (\(readable(bytes: other.plan.totalBytes)))"
    }
    return plan
  }

  /// Memory by the size of the weights: 16 bits per weight in safetensors, 8.5 or 4.5 when quantised. Nil for GGUF, whose
  /// bits per weight are not in the listing.
  private func estimate(_ room: PullRoom, _ form: String?) -> Int64? {
    let weights = room.files.filter { $0.path.hasSuffix(".safetensors") }.reduce(0) { $0 + $1.size }
    guard weights > 0 else { return nil }
    let bits = form == "8bit" ? 8.5 : form == "4bit" ? 4.5 : 16
    return Int64(Double(weights) * bits / 16)
  }
}
