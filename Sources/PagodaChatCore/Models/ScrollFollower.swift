// ScrollFollower: whether the view of a conversation follows the end of an answer, or stays where the user is reading.
import Observation

/// Whether the view of a conversation follows the end of an answer. It does until the user scrolls away from the end,
/// and again once they return to it or send a message.
@MainActor @Observable
public final class ScrollFollower {
  /// Whether the view should scroll when the answer grows.
  public private(set) var isFollowing = true
  @ObservationIgnored private var isCatchingUp = false
  @ObservationIgnored private var isUserScrolling = false
  @ObservationIgnored private var isEndVisible = true

  /// A view at its end.
  public init() {}

  /// The answer has grown. True when the view should scroll to the end.
  public func contentGrew() -> Bool {
    isCatchingUp = isFollowing
    return isFollowing
  }

  /// The user has begun to scroll: the view must not pull against them, whatever arrives.
  public func userBegan() {
    isUserScrolling = true
    isCatchingUp = false
    if isFollowing { isFollowing = false }
  }

  /// The user has ended scrolling. If they did so at the end, the view follows it again.
  public func userEnded() {
    guard isUserScrolling else { return }
    isUserScrolling = false
    if isEndVisible && !isFollowing { isFollowing = true }
  }

  /// The end of the content became visible.
  public func endAppeared() {
    isEndVisible = true
    isCatchingUp = false
    if !isFollowing && !isUserScrolling { isFollowing = true }
  }

  /// The end of the content is no longer visible: because it grew, which the view follows, or because the user
  /// scrolled.
  public func endDisappeared() {
    isEndVisible = false
    if !isCatchingUp && isFollowing { isFollowing = false }
  }

  /// The user wants to see the end: they sent a message or pressed a button.
  public func follow() {
    isUserScrolling = false
    isFollowing = true
  }
}
