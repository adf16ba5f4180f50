import BridgeEngine
import Dispatch
import MediaCore
import Synchronization
import TestSupport

/// Keeps all that it hears from a channel, in order.
final class Ears: ChannelReceiver {
    enum Word: Hashable, Sendable {
        case joined(UserID)
        case left(UserID, OfflineReason)
        case published(TrackID, UserID)
        case unpublished(TrackID, UserID)
        /// Told apart by its running time in milliseconds.
        case frame(Int, TrackID, UserID)
        case disconnected(EngineError.Code)
    }
    private let heard = Observed<[Word]>([])
    private let pictures = Mutex<[VideoFrame]>([])
    private let onWord: @Sendable (Word) -> Void

    /// - Parameter onWord: Called in the receiver's turn.
    init(onWord: @escaping @Sendable (Word) -> Void = { _ in }) { self.onWord = onWord }

    var words: [Word] { heard.value }
    var frames: [VideoFrame] { pictures.withLock { $0 } }
    /// The running times of a user's frames, in the order of their coming.
    func times(from user: UserID, track: TrackID = .main) -> [Int] { words.times(user, track) }

    /// Returns when what was heard fulfils the condition.
    func hears(_ condition: @escaping @Sendable ([Word]) -> Bool) async {
        await heard.wait(until: condition)
    }

    /// Returns when this was heard.
    func hears(_ word: Word) async {
        await heard.wait(now: { $0.contains(word) }, later: { $0.last == word })
    }

    private func note(_ word: Word, _ frame: VideoFrame? = nil) {
        if let frame { pictures.withLock { $0.append(frame) } }
        heard.change { $0.append(word) }
        onWord(word)
    }

    func userJoined(_ user: UserID) { note(.joined(user)) }
    func userLeft(_ user: UserID, reason: OfflineReason) { note(.left(user, reason)) }
    func trackPublished(_ track: TrackID, by user: UserID) { note(.published(track, user)) }
    func trackUnpublished(_ track: TrackID, by user: UserID) { note(.unpublished(track, user)) }
    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID) {
        let frame = copy frame
        note(.frame(Int(frame.milliseconds), track, user), frame)
    }
    func disconnected(_ error: EngineError) { note(.disconnected(error.code)) }
}

extension [Ears.Word] {
    func times(_ user: UserID, _ track: TrackID = .main) -> [Int] {
        compactMap { word in
            if case .frame(let time, track, user) = word { time } else { nil }
        }
    }

    /// Whether every user and track came before it was spoken of, and nothing of it followed its end.
    var isWellFormed: Bool {
        var tracks: [UserID: Set<TrackID>] = [:]
        for (index, word) in enumerated() {
            switch word {
            case .joined(let user):
                guard tracks.updateValue([], forKey: user) == nil else { return false }
            case .left(let user, _):
                guard tracks.removeValue(forKey: user) != nil else { return false }
            case .published(let track, let user):
                guard tracks[user]?.insert(track).inserted == true else { return false }
            case .unpublished(let track, let user):
                guard tracks[user]?.remove(track) != nil else { return false }
            case .frame(_, let track, let user):
                guard tracks[user]?.contains(track) == true else { return false }
            case .disconnected:
                guard index == count - 1 else { return false }
            }
        }
        return true
    }
}

/// Where a receiver stands until it is let through.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrived = AsyncStream<Void>.makeStream()

    /// Blocks the thread until ``open()``.
    func pass() {
        arrived.continuation.yield()
        semaphore.wait()
        semaphore.signal()  // for the next
    }

    /// Returns when somebody stands there.
    func isReached() async { for await _ in arrived.stream { return } }

    func open() { semaphore.signal() }
}

/// Asks for the error that joining ends with.
func joinError(
    _ network: LoopbackNetwork, _ request: ChannelRequest
) async -> EngineError.Code? {
    do throws(EngineError) {
        await (try network.join(request, receiver: Ears())).leave()
        return nil
    } catch {
        return error.code
    }
}
