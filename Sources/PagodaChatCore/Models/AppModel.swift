// AppModel: the root model of the app's windows; connects all others.
import Foundation
import Observation
import PagodaKit

/// The root model of the app's windows.
@MainActor @Observable
public final class AppModel {
  /// The loaded model.
  public let engines: EngineModel
  /// The sidebar.
  public let conversations: ConversationListModel
  /// The model library.
  public let library: LibraryModel
  /// App-wide settings.
  public let settings: SettingsModel
  /// The local server.
  public let server: ServerModel

  private var idleSince = ContinuousClock.now

  /// The app with its files in `folder`.
  public init(
    folder: URL, loader: any ModelLoader = EngineLoader(), downloader: (any ModelDownloader)? = nil
  ) throws {
    let store = try ConversationStore(folder: folder)
    settings = SettingsModel(folder: folder)
    engines = EngineModel(loader: loader)
    conversations = ConversationListModel(store: store, engines: engines)
    let models: any ModelDownloader =
      settings.settings.modelFolder.map { FolderModels(folder: URL(filePath: $0)) } ?? HubModels()
    library = LibraryModel(downloader: downloader ?? models, engines: engines)
    server = ServerModel(engines: engines)
  }

  /// Where the app keeps its files: never in a folder that is synchronised to other machines.
  public static var defaultFolder: URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return (folders.first ?? URL(filePath: NSHomeDirectory())).appending(path: "Pagoda")
  }

  /// Reads the library and loads the model of the last session, or the embedded one.
  public func start() async {
    await library.refresh()
    await use(settings.settings.modelName ?? LibraryModel.embeddedName)
  }

  /// Loads a model of the library and remembers it. Stops the server of the previous model.
  public func use(_ modelName: String) async {
    await server.turnOff()
    await library.load(modelName)
    if case .ready = engines.state { settings.settings.modelName = modelName }
  }

  /// Stops the server and frees the model's memory.
  public func unload() async {
    await server.turnOff()
    await engines.unload()
  }

  /// Starts a conversation with the default settings.
  public func newChat() { conversations.begin(settings: settings.settings.newChats) }

  /// Copies the selected conversation up to a message into a new one and selects it.
  public func branch(at id: UUID) {
    if let copy = conversations.transcript?.branch(at: id) { conversations.show(copy) }
  }

  /// Call it every few seconds: refreshes the status bar's data, and unloads an idle model.
  public func tick(now: ContinuousClock.Instant = .now) async {
    engines.refresh()
    let minutes = settings.settings.idleMinutes
    if engines.engine == nil || engines.load.running > 0 || server.isOn || minutes == 0 {
      idleSince = now
    } else if now - idleSince >= .seconds(60 * minutes) {
      await engines.unload()
    }
  }
}
