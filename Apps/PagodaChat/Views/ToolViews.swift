// Servers of tools in the settings, the question before a call, and the calls of an answer.
import Foundation
import PagodaChatCore
import PagodaMCP
import SwiftUI

/// The servers of tools, as a tab of the settings.
struct ToolSettingsView: View {
  let app: AppModel
  @State private var name = ""
  @State private var target = ""

  var body: some View {
    Form {
      ForEach(app.settings.settings.toolServers) { server in
        HStack {
          VStack(alignment: .leading, spacing: 2) {
            Text(server.name)
            Text(state(of: server)).font(.caption).foregroundStyle(.secondary)
          }
          Spacer()
          Button("Remove") {
            app.tools.remove(server.name)
            Task { await app.tools.refresh() }
          }
        }
        ForEach(app.tools.decisions(of: server.name)) { decision in
          HStack {
            Text(decision.text).font(.caption)
            Spacer()
            Button("Ask Again") { app.tools.forget(decision) }
          }
        }
      }
      TextField("Name", text: $name)
      TextField("Command or address", text: $target)
      Button("Add Server") {
        app.tools.add(name, target)
        Task { await app.tools.refresh() }
        (name, target) = ("", "")
      }
      .disabled(name.isEmpty || target.isEmpty)
    }
    .formStyle(.grouped)
  }

  private func state(of server: MCPServer) -> String {
    switch app.tools.states[server.name] {
    case .ready(let tools): tools.joined(separator: ", ")
    case .failed(let failure): failure.cause
    case .connecting, nil: localized("Connecting…")
    }
  }
}

/// The question before a tool is called.
struct ToolQuestionView: View {
  let tools: ToolModel
  let question: ToolQuestion

  var body: some View {
    VStack(alignment: .leading, spacing: 6) {
      Text(localized("\(question.server) wants to run \(question.call.name)")).font(.headline)
      Text(question.call.arguments).font(.caption).textSelection(.enabled).lineLimit(6)
      HStack {
        Button("Allow Once") { tools.answer(true) }
        Button("Always Allow") { tools.answer(true, always: true) }
        Button("Refuse") { tools.answer(false) }
        Button("Always Refuse") { tools.answer(false, always: true) }
      }
    }
    .padding(10)
    .background(Color.secondary.opacity(0.12))
    .accessibilityElement(children: .contain)
    .accessibilityLabel("Permission to use a tool")
  }
}

/// The calls of an answer.
struct ToolRoundsView: View {
  let rounds: [ToolRound]

  var body: some View {
    ForEach(rounds.flatMap(\.runs)) { run in
      DisclosureGroup(localized("Used \(run.call.name)")) {
        Text("\(run.call.arguments)\n\(run.result)").font(.caption).textSelection(.enabled)
          .frame(maxWidth: .infinity, alignment: .leading)
      }
    }
  }
}
