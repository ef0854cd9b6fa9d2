// A stub of AVFoundation's speech for Linux, for type checking only.
@_exported import Foundation

public class AVSpeechSynthesizer: NSObject {
  public weak var delegate: (any AVSpeechSynthesizerDelegate)?
  public func speak(_ utterance: AVSpeechUtterance) {}
  @discardableResult public func stopSpeaking(at boundary: AVSpeechBoundary) -> Bool { true }
}

public enum AVSpeechBoundary: Int, Sendable { case immediate, word }

public class AVSpeechUtterance: NSObject {
  public init(string: String) {}
  public var voice: AVSpeechSynthesisVoice?
}

public class AVSpeechSynthesisVoice: NSObject {
  public init?(language languageCode: String?) {}
}

public protocol AVSpeechSynthesizerDelegate: AnyObject {
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didFinish utterance: AVSpeechUtterance)
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didCancel utterance: AVSpeechUtterance)
}
