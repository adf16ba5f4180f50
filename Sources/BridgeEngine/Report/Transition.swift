internal import Synchronization

/// One lifecycle call to one object of the program, and its outcome.
public struct Transition: Hashable, Sendable, CustomStringConvertible {
    /// The kind of call.
    public enum Call: String, Sendable {
        /// The calls in the order of the lifecycle.
        case query, initialize, start, stop, dispose
    }
    /// The outcome of the call.
    public enum Outcome: String, Sendable {
        /// The call returned normally.
        case succeeded
        /// The call returned false.
        case refused
        /// The call threw.
        case threw
        /// The call did not return before its deadline, and the object was given up.
        case stuck
    }
    /// The object's kind and its number in this engine, for example `source 1` or `renderer 3`.
    public let object: String
    /// The call that was made.
    public let call: Call
    /// The outcome of the call.
    public let outcome: Outcome

    /// The object, the call, and the outcome unless it succeeded: `source 1: start`,
    /// `source 1: initialize (refused)`.
    public var description: String {
        "\(object): \(call.rawValue)" + (outcome == .succeeded ? "" : " (\(outcome.rawValue))")
    }
}

/// The transitions of an engine in order; at most the last 1000.
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
