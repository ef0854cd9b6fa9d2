// SettingsModel: app-wide settings, stored in one small file.
import Foundation
import Observation
import PagodaMCP

/// App-wide settings.
public struct AppSettings: Codable, Hashable, Sendable {
  /// Default settings of new conversations.
  public var newChats = ChatSettings()
  /// The model to load at startup; nil for none.
  public var modelName: String?
  /// A folder whose subfolders are models; nil for the hub and its cache.
  public var modelFolder: String?
  /// The bookmark that restores the permission to read that folder; nil if none was needed.
  public var modelFolderBookmark: Data?
  /// The port of the local server.
  public var serverPort: UInt16 = 8080
  /// Minutes of inactivity after which the model is unloaded; 0 means never.
  public var idleMinutes = 0
  /// Whether Return sends; otherwise Command-Return does.
  public var returnSends = true
  /// How each model is loaded.
  public var models: [String: LoadSettings] = [:]
  /// Whether a model was chosen at the first launch, or the question was skipped.
  public var hasChosenModel = false
  /// Named settings for chats.
  public var presets: [ChatPreset] = []
  /// Whether the model writes the titles of chats; otherwise they are the first words.
  public var modelWritesTitles = true
  /// Servers of tools.
  public var toolServers: [MCPServer] = []
  /// What was decided about tools, by `server/tool`; others are asked about.
  public var toolConsents: [String: ToolConsent] = [:]
  /// Whether other machines can reach the local server; they need ``serverKey``.
  public var serverOnNetwork = false
  /// The key that programs send to the local server; empty for none on this machine alone.
  public var serverKey = ""
  /// Whether a key opens the panel for a quick question from anywhere.
  public var hasQuickPanel = false
  /// The conversation that was open last.
  public var selection: UUID?

  /// Default settings.
  public init() {}

  /// Missing fields keep their defaults, so that files of earlier versions can be read.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    newChats = try values.decodeIfPresent(ChatSettings.self, forKey: .newChats) ?? newChats
    modelName = try values.decodeIfPresent(String.self, forKey: .modelName)
    modelFolder = try values.decodeIfPresent(String.self, forKey: .modelFolder)
    modelFolderBookmark = try values.decodeIfPresent(Data.self, forKey: .modelFolderBookmark)
    serverPort = try values.decodeIfPresent(UInt16.self, forKey: .serverPort) ?? serverPort
    idleMinutes = try values.decodeIfPresent(Int.self, forKey: .idleMinutes) ?? idleMinutes
    returnSends = try values.decodeIfPresent(Bool.self, forKey: .returnSends) ?? returnSends
    models = try values.decodeIfPresent([String: LoadSettings].self, forKey: .models) ?? models
    hasChosenModel = try values.decodeIfPresent(Bool.self, forKey: .hasChosenModel) ?? (modelName != nil)
    presets = try values.decodeIfPresent([ChatPreset].self, forKey: .presets) ?? presets
    modelWritesTitles = try values.decodeIfPresent(Bool.self, forKey: .modelWritesTitles) ?? modelWritesTitles
    toolServers = try values.decodeIfPresent([MCPServer].self, forKey: .toolServers) ?? toolServers
    toolConsents = try values.decodeIfPresent([String: ToolConsent].self, forKey: .toolConsents) ?? toolConsents
    serverOnNetwork = try values.decodeIfPresent(Bool.self, forKey: .serverOnNetwork) ?? serverOnNetwork
    serverKey = try values.decodeIfPresent(String.self, forKey: .serverKey) ?? serverKey
    hasQuickPanel = try values.decodeIfPresent(Bool.self, forKey: .hasQuickPanel) ?? hasQuickPanel
    selection = try values.decodeIfPresent(UUID.self, forKey: .selection)
  }
}

/// Named settings for chats, such as "Translator".
public struct ChatPreset: Codable, Hashable, Sendable, Identifiable {
  /// Its name, which is unique.
  public var name: String
  /// The settings that a chat takes over.
  public var settings: ChatSettings
  /// The model that a chat takes over; nil to keep its own.
  public var modelName: String?
  /// The name.
  public var id: String { name }

  /// Named settings.
  public init(name: String, settings: ChatSettings, modelName: String? = nil) {
    self.name = name
    self.settings = settings
    self.modelName = modelName
  }
}

/// App-wide settings; changes are saved by ``flush()``, which the app calls every few seconds and when it leaves the screen.
@MainActor @Observable
public final class SettingsModel {
  /// The settings.
  public var settings: AppSettings
  /// Why the settings cannot be read or saved.
  public var failure: ChatFailure?

  private let url: URL
  private var saved = AppSettings()
  /// How often the file was written.
  public private(set) var writeCount = 0

  /// The settings in `folder`. An unreadable file is moved aside and reported.
  public init(folder: URL) {
    url = folder.appending(path: "settings.json")
    settings = AppSettings()
    guard let data = try? Data(contentsOf: url) else { return }
    do {
      settings = try JSONDecoder().decode(AppSettings.self, from: data)
      saved = settings
    } catch {
      let aside = url.appendingPathExtension("bad")
      try? FileManager.default.removeItem(at: aside)
      try? FileManager.default.moveItem(at: url, to: aside)
      failure = ChatFailure(
        "The settings were reset", cause: "\(url.lastPathComponent) is damaged.",
        advice: "It was kept as \(aside.lastPathComponent).")
    }
  }

  /// Writes the settings if they have changed.
  public func flush() {
    guard settings != saved else { return }
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(settings).write(to: url, options: .atomic)
      saved = settings
      writeCount += 1
    } catch {
      failure = ChatFailure("The settings cannot be saved", error)
    }
  }
}
