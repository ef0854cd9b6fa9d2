// The sheet for one model: device, weight format, context, and the resulting memory plan.
import Foundation
import PagodaChatCore
import SwiftUI

struct ModelSheet: View {
  @Bindable var model: ModelSheetModel
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    VStack(alignment: .leading, spacing: 12) {
      Text(model.id).font(.title2)
      Form {
        Picker("Device", selection: $model.settings.device) {
          Text("Automatic").tag(LoadSettings.Device.automatic)
          Text("CPU").tag(LoadSettings.Device.cpu)
          Text("GPU (Metal)").tag(LoadSettings.Device.metal)
        }
        Picker("Weights", selection: $model.settings.weights) {
          Text("Automatic").tag(LoadSettings.Weights.automatic)
          Text("As in the file").tag(LoadSettings.Weights.asStored)
          Text("8 bits").tag(LoadSettings.Weights.eightBit)
          Text("4 bits").tag(LoadSettings.Weights.fourBit)
        }
        TextField("Context in tokens", value: $model.settings.contextLength, format: .number)
        Toggle("Compact cache (8 bits)", isOn: $model.settings.compactCache)
        Stepper(value: $model.settings.parallelAnswers, in: 1...64, step: 1) {
          Text(localized("\(model.settings.parallelAnswers) answers at the same time"))
        }
      }
      .formStyle(.grouped)
      plan
      HStack {
        Spacer()
        Button("Cancel", role: .cancel) { dismiss() }.keyboardShortcut(.cancelAction)
        Button("Load") {
          Task { await model.load() }
          dismiss()
        }
        .keyboardShortcut(.defaultAction)
        .disabled(!model.canLoad)
      }
    }
    .padding()
    .frame(minWidth: 460, minHeight: 420)
  }

  @ViewBuilder private var plan: some View {
    if let failure = model.failure {
      FailureView(failure: failure)
    } else if let estimate = model.estimate {
      VStack(alignment: .leading, spacing: 4) {
        ProgressView(value: min(1, Double(estimate.totalBytes) / Double(max(1, estimate.limitBytes))))
          .accessibilityLabel("Share of the memory")
        Text(localized("\(size(estimate.totalBytes)) of \(size(estimate.limitBytes)) on \(estimate.device)"))
        Text(
          localized(
            "Weights \(size(estimate.weightsBytes)), cache \(size(estimate.cacheBytes)), \(estimate.contextLength) tokens"
          )
        )
        .font(.caption).foregroundStyle(.secondary)
      }
    } else {
      ProgressView().controlSize(.small).accessibilityLabel("Planning the memory")
    }
  }

  private func size(_ bytes: Int64) -> String { bytes.formatted(.byteCount(style: .memory)) }
}
