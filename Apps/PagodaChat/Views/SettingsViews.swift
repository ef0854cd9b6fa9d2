// Settings of one chat, and of the app.
import Foundation
import PagodaChatCore
import PagodaKit
import SwiftUI
import UniformTypeIdentifiers

/// Generation settings of one chat, and its export.
struct ChatSettingsView: View {
  let app: AppModel
  @Bindable var transcript: TranscriptModel
  @Environment(\.dismiss) private var dismiss
  @State private var presetName = ""

  var body: some View {
    VStack(alignment: .leading, spacing: 12) {
      Form {
        Section("Model and preset") {
          Picker("Model of this chat", selection: $transcript.modelName) {
            Text("The loaded one").tag(String?.none)
            ForEach(app.library.entries.filter { $0.state == .ready }) { Text($0.id).tag(String?.some($0.id)) }
          }
          Menu("Use Preset") {
            ForEach(app.settings.settings.presets) { preset in Button(preset.name) { transcript.use(preset) } }
          }
          Menu("Delete Preset") {
            ForEach(app.settings.settings.presets) { preset in
              Button(preset.name, role: .destructive) { app.settings.removePreset(preset.name) }
            }
          }
          HStack {
            TextField("Name of a preset", text: $presetName)
            Button("Save as Preset") {
              app.settings.savePreset(presetName, transcript.settings, modelName: transcript.modelName)
            }
            .disabled(presetName.isEmpty)
          }
        }
        ChatSettingsFields(settings: $transcript.settings)
      }
      .formStyle(.grouped)
      HStack {
        Spacer()
        Button("Done") { dismiss() }.keyboardShortcut(.defaultAction)
      }
      .padding()
    }
    .frame(minWidth: 460, minHeight: 520)
  }
}

struct ChatSettingsFields: View {
  @Binding var settings: ChatSettings

  var body: some View {
    Section("Instructions") {
      TextField("System prompt", text: $settings.instructions, axis: .vertical).lineLimit(3...8)
    }
    Section("Thinking") {
      Picker("Thinks before answering", selection: $settings.thinking) {
        Text("Model default").tag(Bool?.none)
        Text("Yes").tag(Bool?.some(true))
        Text("No").tag(Bool?.some(false))
      }
      TextField("Maximum thinking tokens", value: $settings.thinkingBudget, format: .number)
    }
    Section("Context") {
      Picker("When the context is full", selection: $settings.contextPolicy) {
        Text("Leave out the oldest turns").tag(ContextPolicy?.none)
        Text("Stop").tag(ContextPolicy?.some(.stop))
      }
    }
    Section("Sampling") {
      TextField("Temperature", value: $settings.temperature, format: .number)
      TextField("Top p", value: $settings.topP, format: .number)
      TextField("Top k", value: $settings.topK, format: .number)
      TextField("Min p", value: $settings.minP, format: .number)
      TextField("Repetition penalty", value: $settings.repetitionPenalty, format: .number)
      TextField("Presence penalty", value: $settings.presencePenalty, format: .number)
      TextField("Seed", value: $settings.seed, format: .number)
      TextField("Most tokens of an answer", value: $settings.maximumTokens, format: .number)
    }
  }
}

/// App-wide settings.
struct AppSettingsView: View {
  let app: AppModel
  @State private var choosesFolder = false
  @State private var token = ""
  @State private var choosesChats = false

  var body: some View {
    @Bindable var model = app.settings
    TabView {
      Form { ChatSettingsFields(settings: $model.settings.newChats) }
        .formStyle(.grouped)
        .tabItem { Label("New Chats", systemImage: "bubble.left") }
      Form {
        Toggle("Return sends; otherwise Command-Return does", isOn: $model.settings.returnSends)
        #if canImport(AppKit)
        Toggle("Option-Space asks a quick question from any program", isOn: $model.settings.hasQuickPanel)
        #endif
        Toggle("The model writes titles of chats", isOn: $model.settings.modelWritesTitles)
        Button("Import Chats…") { choosesChats = true }
          .fileImporter(isPresented: $choosesChats, allowedContentTypes: [.data], allowsMultipleSelection: false) {
            if case .success(let urls) = $0, let data = urls.first.flatMap({ try? Data(contentsOf: $0) }) {
              app.importChats(data)
            }
          }
        SecureField("Hugging Face token", text: $token).onSubmit { Task { await app.setHubToken(token) } }
        if let failure = app.library.failure { FailureView(failure: failure) }
        HStack {
          Text(model.settings.modelFolder ?? localized("Models come from Hugging Face"))
          Spacer()
          Button("Choose Folder…") { choosesFolder = true }
          Button("Use Hugging Face") { Task { await app.useModelFolder(nil) } }
            .disabled(model.settings.modelFolder == nil)
        }
        Stepper(value: $model.settings.idleMinutes, in: 0...240, step: 5) {
          Text(
            model.settings.idleMinutes == 0
              ? localized("Models stay in memory")
              : localized("Models leave memory after \(model.settings.idleMinutes) minutes"))
        }
      }
      .formStyle(.grouped)
      .tabItem { Label("General", systemImage: "gearshape") }
      ServerSettingsView(app: app).tabItem { Label("Server", systemImage: "network") }
      ToolSettingsView(app: app).tabItem { Label("Tools", systemImage: "wrench.and.screwdriver") }
    }
    .onAppear { token = app.hubToken ?? "" }
    .frame(minWidth: 320, idealWidth: 520, minHeight: 400, idealHeight: 560)
    .fileImporter(isPresented: $choosesFolder, allowedContentTypes: [.folder], allowsMultipleSelection: false) {
      if case .success(let urls) = $0, let folder = urls.first { Task { await app.useModelFolder(folder) } }
    }
  }
}

/// The local server: who can reach it, with which key, and its last requests.
struct ServerSettingsView: View {
  let app: AppModel

  var body: some View {
    @Bindable var model = app.settings
    Form {
      TextField("Port of the local server", value: $model.settings.serverPort, format: .number.grouping(.never))
      Toggle("Other machines can reach it", isOn: $model.settings.serverOnNetwork)
      HStack {
        TextField("Key", text: $model.settings.serverKey)
        Button("New Key") { model.settings.serverKey = ServerModel.newKey() }
        Button("Copy") { copyToPasteboard(model.settings.serverKey) }.disabled(model.settings.serverKey.isEmpty)
      }
      Section("Last requests") {
        ScrollView { Text(app.server.log.joined(separator: "\n")).font(.caption).textSelection(.enabled) }
          .frame(maxHeight: 160)
      }
    }
    .formStyle(.grouped)
  }
}
