internal import MediaBridgeWebRTC
internal import Synchronization

/// What happens to one peer connection, in order.
enum PeerSignal: Sendable {
    case state(PeerConnection.State)
    /// A candidate of the server.
    case offered(PeerConnection.Candidate)
    /// The server has ended its side.
    case hungUp(String)
    /// What the connection carries was changed by this side.
    case changed
}

/// The way from those who know what happens to a peer connection to the task that keeps it up.
struct PeerSignals: Sendable {
    let stream: AsyncStream<PeerSignal>
    private let continuation: AsyncStream<PeerSignal>.Continuation

    init() {
        // A connection has tens of candidates and a handful of states.
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1024))
    }

    func send(_ signal: PeerSignal) { continuation.yield(signal) }

    func finish() { continuation.finish() }
}

/// The signals of the present one of connections that follow each other. Thread: any.
final class CurrentSignals: Sendable {
    private let current = Mutex<PeerSignals?>(nil)

    /// Returns signals for a new connection. What is sent from now on goes there.
    func renew() -> PeerSignals {
        let signals = PeerSignals()
        current.withLock { $0 = signals }
        return signals
    }

    func send(_ signal: PeerSignal) { current.withLock { $0 }?.send(signal) }
}

/// Finds the connection that a message of the server about a handle is for. Thread: any.
final class HandleTable: Sendable {
    private let table = Mutex<[Int: CurrentSignals]>([:])

    subscript(handle: Int) -> CurrentSignals? {
        get { table.withLock { $0[handle] } }
        set { table.withLock { $0[handle] = newValue } }
    }
}

/// Why a connection is to be made anew, or is not.
enum PeerLoss: Error {
    /// It failed, and another may succeed.
    case broken(String)
    /// The server refused, and will refuse again.
    case hopeless(JanusFailure)
    /// This side cannot make such a connection.
    case impossible(PeerError)
    /// The units have another codec than the connection.
    case recoded
    /// It is not needed any more.
    case over

    /// - Parameter failure: Of a request on behalf of the connection.
    init(_ failure: JanusFailure) {
        switch failure.kind {
        case .refused: self = .hopeless(failure)
        case .cancelled, .closed: self = .over
        default: self = .broken(failure.message)
        }
    }

    init(_ error: PeerError) {
        switch error.code {
        case .missingElement, .nothingInCommon, .badDescription, .badServer:
            self = .impossible(error)
        case .closed: self = .over
        default: self = .broken(error.message)
        }
    }
}
