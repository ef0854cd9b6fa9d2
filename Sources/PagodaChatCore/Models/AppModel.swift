// AppModel: the root model of the app's windows; connects all others.
import Foundation
import Observation
import PagodaKit
import PagodaMCP

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
  /// Servers of tools.
  public let tools: ToolModel
  /// Reads messages aloud.
  public let speech: SpeechModel
  /// The panel that a key opens from anywhere.
  @ObservationIgnored public private(set) lazy var quickPanel = QuickPanelModel(app: self)

  let access: any FolderAccess
  let secrets: any SecretStore
  let usesHub: Bool  // and not the downloader of a test
  private var memoryWatch: (any Sendable)?
  private(set) var idleSince = ContinuousClock.now
  private var starting: Task<Void, Never>?
  private var hasWindow = false
  private var lastSelection: UUID?  // of the window closed last
  private var tickedAt = ContinuousClock.now

  /// The app with its files in `folder`.
  public init(
    folder: URL, loader: any ModelLoader = EngineLoader(), downloader: (any ModelDownloader)? = nil,
    access: any FolderAccess = SystemFolderAccess(), secrets: any SecretStore = SystemSecrets(),
    memory: any MemoryWatch = SystemMemoryWatch(), speaker: (any Speaker)? = nil,
    connect: @escaping @Sendable (MCPServer) -> any ToolProvider = { MCPClient($0) },
    store given: ConversationStore? = nil
  ) throws {
    self.access = access
    self.secrets = secrets
    usesHub = downloader == nil
    let store = try given ?? ConversationStore(folder: folder)
    settings = SettingsModel(folder: folder)
    engines = EngineModel(loader: loader)
    conversations = ConversationListModel(
      pool: TranscriptPool(store: store, engines: engines), selection: settings.settings.selection)
    var reason: ChatFailure?
    let models = Self.models(settings, access, HubModels(token: secrets.value(of: Self.hubTokenName)), &reason)
    library = LibraryModel(downloader: downloader ?? models, engines: engines)
    library.failure = reason
    server = ServerModel(engines: engines)
    tools = ToolModel(settings: settings, connect: connect)
    speech = SpeechModel(speaker: speaker)
    conversations.pool.tools = tools
    engines.findModel = { [weak self] name in
      guard let self, let entry = library.entries.first(where: { $0.id == name }) else { return nil }
      return entry.source.map { ($0, settings.settings.models[name] ?? LoadSettings()) }
    }
    conversations.pool.modelWritesTitles = { [weak self] in
      // The embedded model is too small to be worth the wait.
      self?.settings.settings.modelWritesTitles == true && self?.engines.modelName != LibraryModel.embeddedName
    }
    // Weak in the outer closures too: they are kept by what this object owns.
    store.onFailure { [weak self] error in
      Task { @MainActor [weak self] in
        self?.conversations.failure = ChatFailure("The chats cannot be saved", error)
      }
    }
    memoryWatch = memory.begin { [weak self] pressure in
      Task { @MainActor [weak self] in await self?.relieve(pressure) }
    }
  }

  /// The app with its files in `folder`, read and written away from the main thread.
  public static func open(
    folder: URL, loader: any ModelLoader = EngineLoader(), speaker: (any Speaker)? = nil
  ) async throws -> AppModel {
    let store = try await Task.detached { try ConversationStore(folder: folder, writing: .inBackground) }.value
    return try AppModel(folder: folder, loader: loader, speaker: speaker, store: store)
  }

  /// Saves everything and waits for the disk. Call it before the program ends.
  public func close() {
    flush()
    conversations.pool.store.waitUntilWritten()
  }

  /// The models of the chosen folder, or of the hub. A folder that can no longer be opened is reported but not
  /// forgotten: it may be on a disk that is not connected.
  private static func models(
    _ settings: SettingsModel, _ access: any FolderAccess, _ hub: HubModels, _ reason: inout ChatFailure?
  ) -> any ModelDownloader {
    guard let path = settings.settings.modelFolder else { return hub }
    guard let bookmark = settings.settings.modelFolderBookmark else { return FolderModels(folder: URL(filePath: path)) }
    do {
      let (folder, isStale) = try access.open(bookmark)
      if isStale { settings.settings.modelFolderBookmark = try access.bookmark(of: folder) }
      settings.settings.modelFolder = folder.path
      return FolderModels(folder: folder)
    } catch {
      reason = ChatFailure("The model folder cannot be opened", error)
      reason?.advice = localized("Choose \(path) again in the settings.")
      return hub
    }
  }

  /// Uses models from a folder chosen by the user, now and at the next start; nil means the hub again.
  public func useModelFolder(_ folder: URL?) async {
    do {
      settings.settings.modelFolderBookmark = try folder.map { try access.bookmark(of: $0) }
      settings.settings.modelFolder = folder?.path
      settings.flush()
      await library.use(folder.map { FolderModels(folder: $0) } ?? HubModels(token: hubToken))
    } catch {
      library.failure = ChatFailure("The model folder cannot be opened", error)
    }
  }

  /// The folder for the app's files: never one that is synchronised to other machines.
  public static var defaultFolder: URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return (folders.first ?? URL(filePath: NSHomeDirectory())).appending(path: "Pagoda")
  }

  /// Reads the library and loads the model of the last session, or the embedded one. Every window calls it; only the
  /// first call does anything.
  public func start() async {
    let task =
      starting
      ?? Task {
        await library.refresh()
        if !settings.settings.toolServers.isEmpty { Task { await tools.refresh() } }
        if engines.state == .unloaded { await use(settings.settings.modelName ?? LibraryModel.embeddedName) }
      }
    starting = task
    await task.value
  }

  /// The sidebar of a window: the first one uses the app's own; others have their own selection and search, with
  /// the same conversations and the same model.
  public func claimWindow() -> ConversationListModel {
    if hasWindow { return ConversationListModel(pool: conversations.pool, selection: lastSelection) }
    hasWindow = true
    return conversations
  }

  /// A window is on the screen.
  public func windowOpened(_ window: ConversationListModel) {
    if window === conversations { hasWindow = true }
  }

  /// A window was closed; the next one that is opened shows the same conversation.
  public func windowClosed(_ window: ConversationListModel) {
    lastSelection = window.selection
    if window === conversations { hasWindow = false }
  }

  /// Whether the app keeps running when its last window is closed: it does so, in the menu bar, while its
  /// server is on.
  public var outlivesWindows: Bool { server.isOn }

  /// Ticks every two seconds until the task is cancelled. Every window calls it; only one of them does the work.
  public func run() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(2))
      let now = ContinuousClock.now
      guard !Task.isCancelled, now - tickedAt > .seconds(1) else { continue }
      tickedAt = now
      await tick(now: now)
    }
  }

  /// Saves pending changes: settings, drafts, the selection. Call it when the app leaves the screen.
  public func flush() {
    settings.settings.selection = conversations.selection
    conversations.pool.flush()
    settings.flush()
  }

  /// Loads a model of the library and remembers it. Stops the server of the previous model.
  public func use(_ modelName: String) async {
    await server.turnOff()
    await library.load(modelName, settings: settings.settings.models[modelName] ?? LoadSettings())
    if case .ready = engines.state { settings.settings.modelName = modelName }
  }

  /// Stops the server and frees the model's memory.
  public func unload() async {
    await server.turnOff()
    await engines.unload()
  }

  /// Starts a conversation with the default settings.
  public func newChat(in window: ConversationListModel? = nil) {
    (window ?? conversations).begin(settings: settings.settings.newChats)
  }

  /// Answers a question from outside the windows, such as Siri or Shortcuts; it is kept in the sidebar as a chat. Loads
  /// the model if necessary, and throws the reason if there is no answer.
  public func ask(_ question: String) async throws -> String {
    let text = question.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty else { throw ChatFailure("No answer", cause: "The question is empty.") }
    await start()
    guard let transcript = conversations.addChat(settings: settings.settings.newChats) else {
      throw conversations.failure ?? EngineModel.noModel
    }
    transcript.send(text)
    conversations.refresh()
    await withTaskCancellationHandler {
      await transcript.answering?.value
    } onCancel: {
      Task { @MainActor in transcript.stop() }
    }
    if let failure = transcript.failure { throw failure }
    try Task.checkCancellation()
    guard let answer = transcript.messages.last, answer.role == .assistant else { throw EngineModel.noModel }
    return answer.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Copies the selected conversation up to a message into a new one and selects it.
  public func branch(at id: UUID, in window: ConversationListModel? = nil) {
    let window = window ?? conversations
    if let copy = window.transcript?.branch(at: id) { window.show(copy) }
  }

  /// Call it every few seconds: refreshes the status bar's data, and unloads an idle model.
  public func tick(now: ContinuousClock.Instant = .now) async {
    engines.refresh()
    flush()
    let minutes = settings.settings.idleMinutes
    if engines.engine == nil || isInUse {
      idleSince = now
    } else if minutes > 0, now - idleSince >= .seconds(60 * minutes) {
      await engines.unload()
    }
  }
}
