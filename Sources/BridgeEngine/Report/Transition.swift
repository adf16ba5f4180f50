internal import Synchronization

/// One call of the state machine to one object of the program's, and how it went.
public struct Transition: Hashable, Sendable, CustomStringConvertible {
    /// What was called.
    public enum Call: String, Sendable {
        case query, initialize, start, stop, dispose
    }
    /// How it went.
    public enum Outcome: String, Sendable {
        case succeeded
        /// The call said false.
        case refused
        /// The call threw.
        case threw
        /// The call did not return in time, and was left alone.
        case stuck
    }
    /// Source or renderer, and its number in this engine: `source 1`, `renderer 3`.
    public let object: String
    public let call: Call
    public let outcome: Outcome

    /// `source 1: start`, `source 1: initialize (refused)`
    public var description: String {
        "\(object): \(call.rawValue)" + (outcome == .succeeded ? "" : " (\(outcome.rawValue))")
    }
}

/// The transitions of an engine in their order; the last thousand.
final class TransitionTrace: Sendable {
    private let transitions = Mutex<[Transition]>([])
    private static let limit = 1000

    func note(_ object: String, _ call: Transition.Call, _ outcome: Transition.Outcome) {
        transitions.withLock { transitions in
            if transitions.count == Self.limit { transitions.removeFirst(Self.limit / 2) }
            transitions.append(Transition(object: object, call: call, outcome: outcome))
        }
    }

    var all: [Transition] { transitions.withLock { $0 } }
}
