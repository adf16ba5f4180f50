internal import MediaCore
internal import Synchronization

/// The lifecycle stage of one object of the program, and the calls that change it. Each call is
/// recorded in the trace. A call that does not apply to the current stage does nothing.
struct LifecycleState {
    enum Stage { case fresh, initialized, started }
    private(set) var stage = Stage.fresh
    let name: String
    let typeName: String
    let trace: TransitionTrace
    /// The error codes of failures.
    let codes: Codes

    struct Codes {
        let notInitialized: EngineError.Code
        let notStarted: EngineError.Code
        let failed: EngineError.Code

        static let source = Codes(
            notInitialized: .sourceNotInitialized, notStarted: .sourceNotStarted,
            failed: .sourceFailed)
        static let sink = Codes(
            notInitialized: .sinkNotInitialized, notStarted: .sinkNotStarted,
            failed: .sinkFailed)
    }

    mutating func initialize(_ call: () throws -> Bool) throws(EngineError) {
        guard stage == .fresh else { return }
        var reason: (any Error)?
        do {
            guard try !call() else {
                trace.note(name, .initialize, .succeeded)
                stage = .initialized
                return
            }
            trace.note(name, .initialize, .refused)
        } catch {
            trace.note(name, .initialize, .threw)
            reason = error
        }
        throw EngineError(
            codes.notInitialized, call: "shouldInitialize",
            message: reason == nil
                ? "\(typeName) returned false from shouldInitialize"
                : "\(typeName) failed in shouldInitialize", underlying: reason)
    }

    mutating func start(_ call: () throws -> Void) throws(EngineError) {
        guard stage == .initialized else { return }
        do {
            try call()
        } catch {
            trace.note(name, .start, .threw)
            throw EngineError(
                codes.notStarted, call: "shouldStart",
                message: "\(typeName) failed in shouldStart", underlying: error)
        }
        trace.note(name, .start, .succeeded)
        stage = .started
    }

    /// - Throws: The error of the object's call; the object counts as stopped nevertheless.
    mutating func stop(_ call: () throws -> Void) throws(EngineError) {
        guard stage == .started else { return }
        stage = .initialized
        try end(.stop, call)
    }

    /// - Throws: The error of the object's call; the object counts as disposed of nevertheless.
    mutating func dispose(_ call: () throws -> Void) throws(EngineError) {
        guard stage == .initialized else { return }
        stage = .fresh
        try end(.dispose, call)
    }

    private func end(
        _ name: Transition.Call, _ call: () throws -> Void
    ) throws(EngineError) {
        do {
            try call()
            trace.note(self.name, name, .succeeded)
        } catch {
            trace.note(self.name, name, .threw)
            throw failure(of: name.methodName, error)
        }
    }

    func failure(of call: String, _ error: any Error) -> EngineError {
        EngineError(
            codes.failed, call: call, message: "\(typeName) failed in \(call)", underlying: error)
    }
}

// MARK: The trace

/// One lifecycle call to one object of the program.
enum Transition {
    /// The kind of call, in the order of the lifecycle.
    enum Call { case query, initialize, start, stop, dispose }

    /// The outcome of the call: it returned normally, returned false, threw, or did not return
    /// before its deadline, so that the object was given up.
    enum Outcome { case succeeded, refused, threw, stuck }
}

extension Transition.Call {
    /// The method's name in the protocols.
    var methodName: String {
        switch self {
        case .query: "bufferType"
        case .initialize: "shouldInitialize"
        case .start: "shouldStart"
        case .stop: "shouldStop"
        case .dispose: "shouldDispose"
        }
    }
}

/// The transitions of an engine in order, as text; at most the last 1000.
final class TransitionTrace: Sendable {
    private let transitions = Mutex<[String]>([])
    private static let limit = 1000

    func note(_ object: String, _ call: Transition.Call, _ outcome: Transition.Outcome) {
        transitions.withLock { transitions in
            if transitions.count == Self.limit { transitions.removeFirst(Self.limit / 2) }
            transitions.append(
                "\(object): \(call)" + (outcome == .succeeded ? "" : " (\(outcome))"))
        }
    }

    var all: [String] { transitions.withLock { $0 } }
}
