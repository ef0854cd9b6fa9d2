// UI tests of the app: ask, stop, start a new chat, delete and undo, with the embedded model in their own folder.
import Foundation
import XCTest

@MainActor
final class ChatUITests: XCTestCase {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-ui-\(UUID().uuidString)")

  private func launch() -> XCUIApplication {
    continueAfterFailure = false
    let app = XCUIApplication()
    app.launchEnvironment["PAGODA_CHAT_FOLDER"] = folder.path
    app.launchArguments += ["-AppleLanguages", "(en)"]  // the tests find buttons by their English names
    app.launch()
    XCTAssertTrue(app.buttons["Send"].waitForExistence(timeout: 120))
    return app
  }

  private func ask(_ question: String, in app: XCUIApplication) {
    let field = app.textFields["Message"]
    XCTAssertTrue(field.waitForExistence(timeout: 60))
    field.click()
    field.typeText(question)
    app.typeKey(.return, modifierFlags: .command)
  }

  func testAQuestionIsAnswered() {
    let app = launch()
    ask("What is the capital of France?", in: app)
    XCTAssertTrue(app.staticTexts["The capital of France is Paris."].waitForExistence(timeout: 120))
  }

  func testAMessageSentWhileTheModelLoadsIsAnswered() {
    let app = launch()  // the model starts to load with the first window
    ask("Hello!", in: app)
    XCTAssertTrue(app.staticTexts["Hello! How can I help you?"].waitForExistence(timeout: 120))
  }

  func testDeletingAsksAndCanBeUndone() {
    let app = launch()
    ask("What is 12 plus 30?", in: app)
    XCTAssertTrue(app.staticTexts["12 + 30 = 42."].waitForExistence(timeout: 120))
    app.typeKey(.delete, modifierFlags: .command)
    XCTAssertTrue(app.sheets.buttons["Delete"].waitForExistence(timeout: 60))
    app.sheets.buttons["Delete"].click()
    XCTAssertTrue(app.staticTexts["12 + 30 = 42."].waitForNonExistence(timeout: 60))
    app.typeKey("z", modifierFlags: [.command, .option])
    XCTAssertTrue(app.staticTexts["12 + 30 = 42."].waitForExistence(timeout: 60))
  }

  func testANewChatHasAnEmptyField() {
    let app = launch()
    app.typeKey("n", modifierFlags: .command)
    XCTAssertTrue(app.textFields["Message"].waitForExistence(timeout: 60))
    XCTAssertFalse(app.buttons["Send"].isEnabled)
  }

  func testLaunchTime() {
    measure(metrics: [XCTApplicationLaunchMetric()]) { launch().terminate() }
  }
}
