internal import Dispatch
internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Lets a source's frames through from start to stop. What comes while the start is under way waits for
/// its outcome: a few frames by themselves, more with their deliverer.
///
/// Thread: any.
final class SourceGate<Frame: Sendable>: Sendable {
    /// What becomes of a frame that comes.
    enum Entry {
        case passes
        /// Kept here until the outcome is known.
        case held
        case refused(DropCause)
    }
    private enum Phase {
        case closed
        /// The call to start is under way.
        case deciding
        /// It succeeded, and what was held goes first.
        case emptying
        case open
    }
    private struct State {
        var phase = Phase.closed
        var held: [Frame] = []
        var waiting: [DispatchSemaphore] = []
    }
    private let state = Mutex(State())
    private let isOpenNow = Atomic<Bool>(false)
    private let executor: SerialQueueExecutor
    /// Where held frames go on, so that a start does not wait until they are due.
    private let outlet = SerialQueue(label: "mediabridge.gate")
    private static var patientFrames: Int { 4 }
    private static var patience: Duration { .seconds(2).asDefaultDeadline }

    /// - Parameter executor: Where start is called.
    init(_ executor: SerialQueueExecutor) { self.executor = executor }

    var isOpen: Bool { isOpenNow.load(ordering: .acquiring) }
    var isClosed: Bool { !isOpen && state.withLock { $0.phase == .closed } }

    /// The call to start follows.
    func expectStart() { state.withLock { $0.phase = .deciding } }

    /// The start succeeded.
    ///
    /// - Parameter pass: Gets what was held, one by one, on another thread.
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

    /// - Returns: How many frames were held in vain.
    func close() -> Int {
        // Frames are let go of outside of the lock: that may run their maker's code.
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

    /// What becomes of this frame. Blocks while the start is under way and enough is held already.
    func enter(_ frame: Frame) -> Entry {
        if isOpen { return .passes }
        let deadline = DispatchTime.now() + Self.patience.dispatchInterval
        var isOverdue = false
        while true {
            let room = DispatchSemaphore(value: 0)
            let entry = state.withLock { state -> Entry? in
                switch state.phase {
                case .closed: return .refused(.notStarted)
                case .open: return .passes
                case .deciding where state.held.count < Self.patientFrames:
                    state.held.append(frame)
                    return .held
                // The start itself delivers, or does not come to an end: waiting helps nobody.
                case .deciding where isOverdue || executor.isCurrent: return .refused(.queueFull)
                case .deciding, .emptying:
                    state.waiting.append(room)
                    return nil
                }
            }
            if let entry { return entry }
            if isOverdue {
                room.wait()
            } else {
                isOverdue = room.wait(timeout: deadline) == .timedOut
            }
        }
    }
}
