internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Passes a source's frames from start to stop. Frames that arrive while the start is running wait
/// for its result: the first few are stored, for further ones the delivering thread blocks.
///
/// Thread: any.
final class SourceGate<Frame: Sendable>: Sendable {
    /// The result for a frame that arrives.
    enum Entry {
        case passes
        /// Stored until the result of the start is known.
        case held
        case refused(DropCause)
    }
    private enum Phase {
        case closed
        /// The start is running.
        case deciding
        /// The start succeeded; stored frames are passed on first.
        case emptying
        case open
    }
    private struct State {
        var phase = Phase.closed
        var held: [Frame] = []
        var waiting: [MonotonicSignal] = []
    }
    private let state = Mutex(State())
    private let isOpenNow = Atomic<Bool>(false)
    private let executor: SerialQueueExecutor
    private let timeline: any Timeline
    /// Passes stored frames on, so that a start does not wait until they are due.
    private let outlet = SerialQueue(label: "mediabridge.gate")
    private static var maximumHeldFrames: Int { 4 }
    private static var decisionTimeout: Duration { .seconds(2).asDefaultDeadline }

    /// - Parameters:
    ///   - executor: The executor on which the source is started.
    ///   - timeline: Measures how long a frame waits for the result of the start.
    init(_ executor: SerialQueueExecutor, _ timeline: any Timeline) {
        (self.executor, self.timeline) = (executor, timeline)
    }

    var isOpen: Bool { isOpenNow.load(ordering: .acquiring) }
    var isClosed: Bool { !isOpen && state.withLock { $0.phase == .closed } }

    /// Prepares for the start, which follows.
    func expectStart() { state.withLock { $0.phase = .deciding } }

    /// The start succeeded: opens the gate.
    ///
    /// - Parameter pass: Receives the stored frames, one by one, on another thread.
    func open(_ pass: @escaping @Sendable (Frame) -> Void) {
        let hasHeld = state.withLock { state in
            guard state.phase == .deciding else { return false }
            state.phase = state.held.isEmpty ? .open : .emptying
            isOpenNow.store(state.held.isEmpty, ordering: .releasing)
            return !state.held.isEmpty
        }
        guard hasHeld else { return release() }
        outlet.async { [self] in
            while let frame = nextHeld() { pass(frame) }
            release()
        }
    }

    private func nextHeld() -> Frame? {
        state.withLock { state in
            guard state.phase == .emptying else { return nil }
            if !state.held.isEmpty { return state.held.removeFirst() }
            state.phase = .open
            isOpenNow.store(true, ordering: .releasing)
            return nil
        }
    }

    /// Closes the gate and discards the stored frames.
    ///
    /// - Returns: The number of discarded frames.
    func close() -> Int {
        // Frames are released outside the lock, because that may run their creator's code.
        let lost = state.withLock { state in
            isOpenNow.store(false, ordering: .releasing)
            state.phase = .closed
            defer { state.held = [] }
            return state.held
        }
        release()
        return lost.count
    }

    private func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }

    /// Decides about a frame. Blocks while the start is running and enough frames are stored.
    func enter(_ frame: Frame) -> Entry {
        if isOpen { return .passes }
        let deadline = timeline.now + Self.decisionTimeout
        var isOverdue = false
        while true {
            let signal = MonotonicSignal()
            let entry = state.withLock { state -> Entry? in
                switch state.phase {
                case .closed: return .refused(.notStarted)
                case .open: return .passes
                case .deciding where state.held.count < Self.maximumHeldFrames:
                    state.held.append(frame)
                    return .held
                // The start itself delivers frames, or does not return: waiting would not help.
                case .deciding where isOverdue || executor.isCurrent: return .refused(.queueFull)
                case .deciding, .emptying:
                    state.waiting.append(signal)
                    return nil
                }
            }
            if let entry { return entry }
            if isOverdue {
                signal.wait()
            } else {
                isOverdue = !signal.wait(for: deadline - timeline.now, on: timeline)
            }
        }
    }
}
