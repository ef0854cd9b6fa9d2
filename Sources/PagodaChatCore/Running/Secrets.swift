// Secrets: the hub's token, in the Keychain where there is one; never in the app's own files.
import Foundation

#if canImport(Security)
import Security
#endif

/// Keeps secrets.
public protocol SecretStore: Sendable {
  /// A secret; nil if there is none.
  func value(of name: String) -> String?
  /// Keeps or, with nil, deletes a secret.
  func set(_ value: String?, of name: String) throws
}

/// The Keychain on Apple systems. Elsewhere nothing can be kept.
public struct SystemSecrets: SecretStore {
  /// The secrets of this app.
  public init() {}

  #if canImport(Security)
  private func query(_ name: String) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "Pagoda", kSecAttrAccount: name]
  }

  /// The secret in the Keychain.
  public func value(of name: String) -> String? {
    var found: CFTypeRef?
    let wanted = query(name).merging([kSecReturnData: true]) { $1 }
    guard SecItemCopyMatching(wanted as CFDictionary, &found) == errSecSuccess, let data = found as? Data else {
      return nil
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Only this device can read it, after its first unlock.
  public func set(_ value: String?, of name: String) throws {
    SecItemDelete(query(name) as CFDictionary)
    guard let value else { return }
    let item = query(name).merging([
      kSecValueData: Data(value.utf8), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]) { $1 }
    let status = SecItemAdd(item as CFDictionary, nil)
    if status != errSecSuccess { throw StoreError("The Keychain refuses the token (\(status))") }
  }
  #else
  /// None.
  public func value(of name: String) -> String? { nil }

  /// Fails.
  public func set(_ value: String?, of name: String) throws {
    if value != nil { throw StoreError("This system has no Keychain; set HF_TOKEN instead") }
  }
  #endif
}

extension AppModel {
  static let hubTokenName = "huggingface.co"

  /// The token for the hub, for models whose access must be requested; nil for that of the environment.
  public var hubToken: String? { secrets.value(of: Self.hubTokenName) }

  /// Keeps the token in the Keychain, and uses it from now on. An empty one is deleted.
  public func setHubToken(_ text: String) async {
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !token.contains(where: \.isWhitespace) else {
      library.failure = ChatFailure("The token cannot be used", cause: "It contains spaces or line breaks.")
      return
    }
    do {
      try secrets.set(token.isEmpty ? nil : token, of: Self.hubTokenName)
      library.failure = nil
      if settings.settings.modelFolder == nil, usesHub { await library.use(HubModels(token: hubToken)) }
    } catch {
      library.failure = ChatFailure("The token cannot be kept", error)
    }
  }
}
