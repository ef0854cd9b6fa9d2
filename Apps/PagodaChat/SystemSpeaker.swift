// Speaks with the system's voices, each text in its own language.
import AVFoundation
import NaturalLanguage
import PagodaChatCore

@MainActor
final class SystemSpeaker: NSObject, Speaker, AVSpeechSynthesizerDelegate {
  private let synthesizer = AVSpeechSynthesizer()
  private var current: (utterance: ObjectIdentifier, done: CheckedContinuation<Void, Never>)?

  override init() {
    super.init()
    synthesizer.delegate = self
  }

  func say(_ text: String) async {
    let utterance = AVSpeechUtterance(string: text)
    if let language = NLLanguageRecognizer.dominantLanguage(for: text) {
      utterance.voice = AVSpeechSynthesisVoice(language: language.rawValue)  // nil, the default voice, if there is none
    }
    await withCheckedContinuation { done in
      current = (ObjectIdentifier(utterance), done)
      synthesizer.speak(utterance)
    }
  }

  func stop() {
    end(current?.utterance)
    synthesizer.stopSpeaking(at: .immediate)
  }

  private func end(_ utterance: ObjectIdentifier?) {
    guard let ended = current, ended.utterance == utterance else { return }
    current = nil
    ended.done.resume()
  }

  nonisolated func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didFinish utterance: AVSpeechUtterance) {
    let id = ObjectIdentifier(utterance)
    Task { @MainActor in end(id) }
  }

  nonisolated func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didCancel utterance: AVSpeechUtterance) {
    let id = ObjectIdentifier(utterance)
    Task { @MainActor in end(id) }
  }
}
