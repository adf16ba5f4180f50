import BridgeEngine
import Dispatch
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport

/// Keeps all callbacks of a channel, in order.
final class Ears: ChannelReceiver {
    enum Word: Hashable, Sendable {
        case joined(UserID)
        case left(UserID, OfflineReason)
        case published(TrackID, UserID)
        case unpublished(TrackID, UserID)
        /// Identified by its running time in milliseconds.
        case frame(Int, TrackID, UserID)
        /// Identified by its last byte.
        case unit(Int, TrackID, UserID)
        case muted(Bool, TrackID, UserID)
        case message(String, UserID)
        case reconnecting(Int)
        case reconnected
        case disconnected(EngineError.Code)
    }
    private let heard = Observed<[Word]>([])
    private let pictures = Mutex<[VideoFrame]>([])
    private let onWord: @Sendable (Word) -> Void
    /// The tokens to return, one for each request.
    let tokens = Mutex<[String]>([])

    /// - Parameter onWord: Called from within each callback.
    init(onWord: @escaping @Sendable (Word) -> Void = { _ in }) { self.onWord = onWord }

    var words: [Word] { heard.value }
    var frames: [VideoFrame] { pictures.withLock { $0 } }
    /// The running times of a user's frames, in the order of arrival.
    func times(from user: UserID, track: TrackID = .main) -> [Int] { words.times(user, track) }

    /// Returns when the received callbacks fulfil the condition.
    func hears(_ condition: @escaping @Sendable ([Word]) -> Bool) async {
        await heard.wait(until: condition)
    }

    /// Returns when this callback was received.
    func hears(_ word: Word) async {
        await heard.wait(now: { $0.contains(word) }, later: { $0.last == word })
    }

    private func note(_ word: Word, _ frame: VideoFrame? = nil) {
        if let frame { pictures.withLock { $0.append(frame) } }
        heard.change { $0.append(word) }
        onWord(word)
    }

    func handle(_ event: MembershipEvent) {
        switch event {
        case .joined(let user): note(.joined(user))
        case .left(let user, let reason): note(.left(user, reason))
        case .published(.video(let track), let user): note(.published(track, user))
        case .unpublished(.video(let track), let user): note(.unpublished(track, user))
        case .muted(let isMuted, .video(let track), let user): note(.muted(isMuted, track, user))
        case .published(.audio, _), .unpublished(.audio, _), .muted(_, .audio, _): break
        case .message(let message, let user): note(.message(message.text, user))
        case .reconnecting(let attempt, _): note(.reconnecting(attempt))
        case .reconnected: note(.reconnected)
        case .disconnected(let error): note(.disconnected(error.code))
        }
    }
    func receive(_ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID) {
        guard case .video(let track) = stream else { return }
        switch media {
        case .picture(let frame): note(.frame(Int(frame.milliseconds), track, user), frame)
        case .unit(let unit): note(.unit(Int(unit.bytes.last ?? 0), track, user))
        case .samples, .audioUnit: break
        }
    }
    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        tokens.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

extension [Ears.Word] {
    /// The numbers of a user's units, in the order of arrival.
    func units(_ user: UserID, _ track: TrackID = .main) -> [Int] {
        compactMap { word in
            if case .unit(let number, track, user) = word { number } else { nil }
        }
    }

    func times(_ user: UserID, _ track: TrackID = .main) -> [Int] {
        compactMap { word in
            if case .frame(let time, track, user) = word { time } else { nil }
        }
    }

    /// Whether every user and track was announced before its first use, and was not used after its
    /// end.
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
            case .muted(_, let track, let user), .unit(_, let track, let user),
                .frame(_, let track, let user):
                guard tracks[user]?.contains(track) == true else { return false }
            case .message, .reconnecting, .reconnected: continue
            case .disconnected:
                guard index == count - 1 else { return false }
            }
        }
        return true
    }
}

/// A member of a channel, with its publications by track.
final class Member: Sendable {
    let membership: any ChannelMembership
    private let publications = Mutex<[TrackID: any ChannelPublication]>([:])

    init(_ membership: any ChannelMembership) { self.membership = membership }

    func publish(_ track: TrackID, feedback: any PublicationFeedback = NoFeedback()) {
        let publication = membership.publish(track, feedback: feedback)
        publications.withLock { $0[track] = publication }
    }

    func unpublish(_ track: TrackID) { publications.withLock { $0[track] }?.end() }

    func mute(_ isMuted: Bool, _ track: TrackID) {
        publications.withLock { $0[track] }?.setMuted(isMuted)
    }

    @discardableResult
    func send(_ frame: consuming VideoFrame, track: TrackID) -> FrameDisposition {
        publications.withLock { $0[track] }?.send(frame) ?? .dropped(.notStarted)
    }

    @discardableResult
    func send(_ unit: EncodedVideoFrame, track: TrackID) -> FrameDisposition {
        publications.withLock { $0[track] }?.send(unit) ?? .dropped(.notStarted)
    }

    func leave() async { await membership.leave() }

    var statistics: ChannelStatistics { membership.statistics }
}

/// Joins the channel `room`. A balanced test checks the member's counts at its end.
func join(
    _ user: UserID, _ receiver: any ChannelReceiver, _ network: any ChannelTransport,
    token: String? = nil, wantsAll: Bool = true
) async throws -> Member {
    let request = ChannelRequest(
        channel: "room", token: token, userID: user, wantsAllTracks: wantsAll)
    let member = try await network.enter(request, receiver: receiver)
    BalanceBook.current?.add(member.membership)
    return member
}

final class NoFeedback: PublicationFeedback {}

extension ChannelTransport {
    func enter(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> Member {
        Member(try await join(request, receiver: receiver))
    }
}

/// Blocks a receiver until it is released.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrived = AsyncStream<Void>.makeStream()

    /// Blocks the thread until ``open()``.
    func pass() {
        arrived.continuation.yield()
        semaphore.wait()
        semaphore.signal()  // for the next
    }

    /// Returns when a thread waits at the gate.
    func isReached() async { for await _ in arrived.stream { return } }

    func open() { semaphore.signal() }
}

/// The error that joining throws.
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
