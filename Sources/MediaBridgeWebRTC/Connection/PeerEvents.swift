public import BridgeEngine
internal import GStreamerKit
internal import MediaBasics
public import MediaCore
internal import Synchronization

/// Receives the events and media of a connection.
///
/// Thread: states, requests and messages come one at a time, in order, on a thread of the connection; the frames of
/// each stream too, on a thread of the stream. All methods must return quickly.
public protocol PeerConnectionObserver: AnyObject, Sendable {
    /// Called with each new state. ``PeerConnection/State/failed(_:)`` and
    /// ``PeerConnection/State/closed`` are final.
    func stateChanged(_ state: PeerConnection.State)
    /// Called with each encoded video frame (access unit), in decoding order, with timestamps of
    /// the shared clock (`LiveTiming`). The first frame is a keyframe, and so is the first frame
    /// after a loss.
    func receive(_ frame: EncodedVideoFrame)
    /// Called with each encoded audio frame.
    func receive(_ frame: EncodedAudioFrame)
    /// Called when the peer needs a keyframe, at most four times a second. Requests are never lost.
    func keyFrameNeeded()
    /// Called on the sending side when the network has become slower or faster.
    ///
    /// - Parameter limit: What the network can carry now: its bit rate in bits per second.
    func limitChanged(_ limit: VideoLimit)
    /// Called with each message of the peer.
    func receive(_ message: ChannelMessage)
}

extension PeerConnectionObserver {
    /// Discards the frame.
    public func receive(_ frame: EncodedVideoFrame) {}
    /// Discards the frame.
    public func receive(_ frame: EncodedAudioFrame) {}
    /// Does nothing.
    public func keyFrameNeeded() {}
    /// Does nothing.
    public func limitChanged(_ limit: VideoLimit) {}
    /// Discards the message.
    public func receive(_ message: ChannelMessage) {}
}

// MARK: - PeerEvents

/// Reports the events of a connection to its observer, one call at a time and in order, until the
/// connection ends.
///
/// Thread: any.
final class PeerEvents: Sendable {
    private struct State {
        var observer: (any PeerConnectionObserver)?
        var present = PeerConnection.State.new
        /// Whether media has ever flowed.
        var wasConnected = false
        var onEnd: (@Sendable () -> Void)?
        var onConnected: (@Sendable () -> Void)?
    }
    private let state: Mutex<State>
    private let queue = SerialQueue(label: "mediabridge.peer")

    init(_ observer: any PeerConnectionObserver) { state = Mutex(State(observer: observer)) }

    /// The current state.
    var present: PeerConnection.State { state.withLock { $0.present } }

    /// The observer; `nil` after the end.
    var observer: (any PeerConnectionObserver)? { state.withLock { $0.observer } }

    /// Calls `body` when media flows for the first time, before the observer is notified.
    func onConnected(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onConnected = body }
    }

    /// Calls `body` once, when the connection ends without ``end()``.
    func onEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = body } }

    /// Calls `body` with the observer, after all earlier events.
    func notify(_ body: @escaping @Sendable (any PeerConnectionObserver) -> Void) {
        queue.async { [self] in if let observer { body(observer) } }
    }

    /// Handles a state of webrtcbin, or the agreement of both sides (`connecting`), or an end by the
    /// peer (`closed`). Thread: any.
    func changed(to state: WebRTCBin.ConnectionState) {
        queue.async { [self] in
            switch state {
            case .new: break
            case .connecting: enter(.connecting)
            case .connected: enter(.connected)
            case .disconnected: enter(.disconnected)
            case .failed: finish(.failed(unreachable))
            case .closed: finish(.closed)
            }
        }
    }

    private var unreachable: PipelineError {
        state.withLock { $0.wasConnected }
            ? PipelineError(.unreachable, message: "the peer no longer answers")
            : PipelineError(
                .unreachable, message: "the peer cannot be reached: no pair of candidates works",
                advice: "a STUN or TURN server on both sides; UDP open in the firewall")
    }

    /// Ends the connection with an error. Thread: any.
    func failed(_ error: PipelineError) { queue.async { [self] in finish(.failed(error)) } }

    /// Ends the connection because its data channels were aborted: the peer has closed it, unless
    /// it was already silent. Thread: any.
    func dataChannelsAborted(_ error: PipelineError) {
        queue.async { [self] in
            let isDisconnected = state.withLock { $0.present == .disconnected }
            finish(isDisconnected ? .failed(error) : .closed)
        }
    }

    private func enter(_ next: PeerConnection.State) {
        let (observer, onConnected) = state.withLock {
            state -> ((any PeerConnectionObserver)?, (@Sendable () -> Void)?) in
            guard let observer = state.observer, state.present != next else { return (nil, nil) }
            // ICE reports "connecting" again when it tries a better path.
            if next == .connecting, state.wasConnected { return (nil, nil) }
            state.present = next
            let isFirst = next == .connected && !state.wasConnected
            if isFirst { state.wasConnected = true }
            return (observer, isFirst ? state.onConnected.take() : nil)
        }
        onConnected?()
        observer?.stateChanged(next)
    }

    private func finish(_ end: PeerConnection.State) {
        let (observer, onEnd) = state.withLock { state in
            guard state.observer != nil else {
                return (nil, nil) as ((any PeerConnectionObserver)?, (@Sendable () -> Void)?)
            }
            state.present = end
            return (state.observer.take(), state.onEnd.take())
        }
        observer?.stateChanged(end)
        onEnd?()
    }

    /// Ends the connection without notifying the observer. No call of the observer begins
    /// afterwards, except a media call that is just starting.
    func end() {
        let last = state.withLock { state in
            if state.observer != nil { state.present = .closed }
            state.onEnd = nil
            state.onConnected = nil
            return state.observer.take()
        }
        _ = consume last
    }

    /// Waits until a running call of the observer has returned.
    func drain() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
