// Writes messages to a store until it is killed. Usage: ChatStoreWriter FOLDER. Prints the number of each saved message.
import Foundation
import PagodaChatCore

let store = try ConversationStore(folder: URL(filePath: CommandLine.arguments[1]))
var conversation = store.conversations.first ?? Conversation(title: "written until killed")
var parent = conversation.leafID
var number = store.messages(of: conversation.id).count
while true {
  // Long enough for a kill to hit the middle of a record.
  let text = "message \(number) " + String(repeating: "of a store that is being written ", count: 20)
  let message = ChatMessage(
    conversationID: conversation.id, parentID: parent, role: .user, text: text, state: .streaming)
  conversation.leafID = message.id
  try store.save(conversation)
  try store.save(message)
  print(number)
  fflush(nil)
  parent = message.id
  number += 1
}
