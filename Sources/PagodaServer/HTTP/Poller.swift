// Poller: waits until one of many sockets is ready. Uses epoll if available, so that idle connections cost nothing;
// otherwise poll.
import CEpoll
import Foundation

/// Events that a socket is watched for.
struct Interest: OptionSet, Sendable {
  let rawValue: UInt8
  static let read = Interest(rawValue: 1)
  static let write = Interest(rawValue: 2)
  /// The peer has closed its side, though earlier bytes have not been read. Only epoll reports this.
  static let hangUp = Interest(rawValue: 4)
}

/// Events that a socket is ready for.
struct Readiness: Sendable {
  var socket: Int32
  var canRead = false
  var canWrite = false
  var peerHasEnded = false  // if requested by `Interest.hangUp`
  var isBroken = false  // an error, or both sides have ended; always reported
}

/// Used by one thread.
protocol Poller: AnyObject {
  func set(_ socket: Int32, _ interest: Interest)
  /// Call it before the socket is closed.
  func remove(_ socket: Int32)
  /// Waits for at most this many seconds; nil for no limit.
  func wait(seconds: Double?) -> [Readiness]
}

enum Pollers {
  /// The best one that the system offers; nil if there are no more descriptors.
  static func make() -> (any Poller)? {
    #if os(Linux)
    return EpollPoller()
    #else
    return PollPoller()
    #endif
  }

  /// Rounded up, so that a wait does not end too early.
  fileprivate static func milliseconds(_ seconds: Double?) -> Int32 {
    seconds.map { Int32(min(max($0, 0), 3600) * 1000 + 0.999) } ?? -1
  }
}

/// With poll: the cost of a wait grows with the number of sockets.
final class PollPoller: Poller {
  private var entries: [pollfd] = []
  private var indices: [Int32: Int] = [:]

  func set(_ socket: Int32, _ interest: Interest) {
    let events = (interest.contains(.read) ? POLLIN : 0) | (interest.contains(.write) ? POLLOUT : 0)
    if let index = indices[socket] {
      entries[index].events = Int16(events)
    } else {
      indices[socket] = entries.count
      entries.append(pollfd(fd: socket, events: Int16(events), revents: 0))
    }
  }

  func remove(_ socket: Int32) {
    guard let index = indices.removeValue(forKey: socket), let last = entries.popLast(), last.fd != socket else {
      return
    }
    entries[index] = last
    indices[last.fd] = index
  }

  func wait(seconds: Double?) -> [Readiness] {
    guard poll(&entries, nfds_t(entries.count), Pollers.milliseconds(seconds)) > 0 else { return [] }
    return entries.compactMap { entry in
      let found = Int32(entry.revents)
      if found == 0 { return nil }
      return Readiness(
        socket: entry.fd, canRead: found & Int32(POLLIN) != 0, canWrite: found & Int32(POLLOUT) != 0,
        isBroken: found & Int32(POLLERR | POLLHUP | POLLNVAL) != 0)
    }
  }
}

#if os(Linux)
/// With epoll: the cost of a wait grows with the number of sockets that are ready.
final class EpollPoller: Poller {
  private let descriptor: Int32
  private var interests: [Int32: Interest] = [:]
  private var events = [epoll_event](repeating: epoll_event(), count: 256)

  init?() {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  func set(_ socket: Int32, _ interest: Interest) {
    let previous = interests.updateValue(interest, forKey: socket)
    if previous == interest { return }
    var event = epoll_event()
    if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
    if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
    if interest.contains(.hangUp) { event.events |= EPOLLRDHUP.rawValue }
    event.data.fd = socket
    epoll_ctl(descriptor, previous == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event)
  }

  func remove(_ socket: Int32) {
    if interests.removeValue(forKey: socket) != nil { epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, nil) }
  }

  func wait(seconds: Double?) -> [Readiness] {
    let count = epoll_wait(descriptor, &events, Int32(events.count), Pollers.milliseconds(seconds))
    return events.prefix(max(0, Int(count))).map { event in
      let found = event.events
      return Readiness(
        socket: event.data.fd, canRead: found & EPOLLIN.rawValue != 0, canWrite: found & EPOLLOUT.rawValue != 0,
        peerHasEnded: found & EPOLLRDHUP.rawValue != 0,
        isBroken: found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0)
    }
  }
}
#endif
