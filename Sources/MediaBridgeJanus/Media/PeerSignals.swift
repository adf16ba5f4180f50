internal import MediaBridge
internal import MediaBridgeWebRTC
internal import Synchronization

/// An event of one peer connection. Events are ordered.
enum PeerSignal: Sendable {
    case state(PeerConnection.State)
    /// An ICE candidate of the server.
    case offered(PeerConnection.Candidate)
    /// The server has hung up.
    case hungUp(String)
    /// This side has changed the media of the connection.
    case changed

    /// Adds a candidate to the connection.
    ///
    /// - Throws: Why the connection has ended, if it has.
    func apply(to connection: PeerConnection) throws {
        switch self {
        case .offered(let candidate): connection.add(candidate)
        case .state(.failed(let error)): throw error
        case .state(.closed):
            throw ReconnectReason.broken("the Janus server closed the connection")
        case .hungUp(let reason): throw ReconnectReason.broken(reason)
        case .state, .changed: break
        }
    }
}

/// The signals of the current connection in a sequence of connections. Thread: any.
final class CurrentSignals: Sendable {
    private let current = Mutex<AsyncStream<PeerSignal>.Continuation?>(nil)

    /// Creates the signals for a new connection, which receives all events from now on.
    func renew() -> AsyncStream<PeerSignal> {
        // A connection has tens of candidates and a handful of states.
        let (signals, continuation) = AsyncStream<PeerSignal>.makeStream(
            bufferingPolicy: .bufferingOldest(1024))
        current.withLock { $0 = continuation }
        return signals
    }

    func send(_ signal: PeerSignal) { current.withLock { $0 }?.yield(signal) }
}

/// Finds the connection that a server message about a handle belongs to. Thread: any.
final class HandleTable: Sendable {
    private let table = Mutex<[Int: CurrentSignals]>([:])

    subscript(handle: Int) -> CurrentSignals? {
        get { table.withLock { $0[handle] } }
        set { table.withLock { $0[handle] = newValue } }
    }
}

/// Why a connection ended, which determines whether to replace it.
enum ReconnectReason: Error {
    /// The connection failed; a new one may succeed.
    case broken(String)
    /// The server refused the connection and would refuse it again.
    case permanent(JanusFailure)
    /// This side cannot make such a connection.
    case impossible(PipelineError)
    /// The codec of the frames differs from that of the connection.
    case recoded
    /// The connection is no longer needed.
    case over

    /// - Parameter error: A `ReconnectReason`, `JanusFailure` or `PipelineError`.
    init(_ error: any Error) {
        switch error {
        case let reason as ReconnectReason: self = reason
        case let failure as JanusFailure:
            switch failure.kind {
            case .refused: self = .permanent(failure)
            case .cancelled, .closed: self = .over
            default: self = .broken(failure.message)
            }
        case let error as PipelineError:
            switch error.code {
            case .missingElement, .nothingInCommon, .badDescription, .badServer:
                self = .impossible(error)
            case .closed: self = .over
            default: self = .broken(error.message)
            }
        default: self = .broken("\(error)")
        }
    }
}
