internal import MediaBasics
internal import Synchronization

/// A capture and those who read its branches: it runs from the first that starts to the last that stops,
/// so that pictures and sound of one string have one time.
///
/// The calls block, and are made one at a time on a queue of their own. Thread: any but a streaming thread.
final class CaptureRuns: Sendable {
    let capture: Capture

    private struct State {
        /// By branch; the readers that there are.
        var readers: Set<String> = []
        /// Those whose devices are open.
        var open: Set<String> = []
        var running: Set<String> = []
    }
    private let state = Mutex(State())
    private let queue = SerialQueue(label: "mediabridge.capture")

    init(_ capture: Capture) {
        self.capture = capture
        // Nobody reads them yet, and what nobody reads stops them all.
        capture.branches.forEach { $0.discard() }
    }

    private var pipeline: Pipeline { capture.pipeline }

    // MARK: Readers

    func add(_ branch: CaptureBranch) { state.withLock { _ = $0.readers.insert(branch.name) } }

    /// A reader is gone; the others go on.
    func remove(_ branch: CaptureBranch) {
        let isWanted = state.withLock { state in
            state.readers.remove(branch.name)
            state.open.remove(branch.name)
            state.running.remove(branch.name)
            return !state.readers.isEmpty
        }
        if isWanted { return branch.discard() }
        if capture.needsEnding { finishAndStop(hasEnded: branch.isEnded) }
    }

    // MARK: Control

    /// Opens devices.
    func open(_ branch: CaptureBranch) throws(PipelineError) {
        try onQueue { () throws(PipelineError) in
            if state.withLock({ $0.running.isEmpty }) {
                pipeline.forgetOutcome()
                try pipeline.setStateAndWait(.ready)
            }
            state.withLock { _ = $0.open.insert(branch.name) }
        }
    }

    /// Begins to read a branch: starts the capture, or joins a run of it that others read.
    ///
    /// - Parameters:
    ///   - connect: Says who gets the samples; called before any comes.
    ///   - onOutcome: Told how the start went; not of a run that was joined.
    /// - Returns: False where a run was joined.
    func start(
        _ branch: CaptureBranch, from rest: PipelineState, connect: () -> Void,
        onOutcome: @escaping @Sendable (PipelineError?) -> Void
    ) throws(PipelineError) -> Bool {
        try onQueue { () throws(PipelineError) in
            let others = state.withLock { state in
                state.running.remove(branch.name)
                return state.running
            }
            if !others.isEmpty, pipeline.failure == nil, !pipeline.hasEnded {
                connect()
                state.withLock { _ = $0.running.insert(branch.name) }
                return false
            }
            // A run that failed, or was never stopped, is still up.
            letGo(besides: others)
            // What goes wrong with a run that nobody reads any more is nobody's to hear.
            _ = capture.finishAndWait(hasEnded: branch.isEnded)
            pipeline.forgetOutcome()
            try pipeline.setStateAndWait(rest)
            capture.prepare()
            connect()
            let readers = state.withLock { state in
                state.running.insert(branch.name)
                return state.readers
            }
            for other in capture.branches where other !== branch && !others.contains(other.name) {
                if readers.contains(other.name) { other.hold() } else { other.discard() }
            }
            capture.isUp = true
            // Not waited for: a reader that holds the first sample until this returns holds the lock
            // that the change needs.
            pipeline.requestState(.playing) { [weak capture] error in
                if error != nil { capture?.isUp = false }
                onOutcome(error)
            }
            return true
        }
    }

    /// Reads a branch no more; the last one stops the capture.
    ///
    /// - Parameter rest: Where it goes then.
    func stop(_ branch: CaptureBranch, to rest: PipelineState) throws(PipelineError) {
        try onQueue { () throws(PipelineError) in
            let others = state.withLock { state in
                state.running.remove(branch.name)
                if rest == .null { state.open.remove(branch.name) }
                return (state.running, state.open)
            }
            guard others.0.isEmpty else { return branch.discard() }
            letGo(besides: [branch.name])
            let isOpen = rest == .null && !others.1.isEmpty
            let problem = capture.finishAndWait(hasEnded: branch.isEnded)
            try pipeline.setStateAndWait(isOpen ? .ready : rest)
            if let problem = problem ?? capture.missingFile { throw problem }
        }
    }

    /// Puts a pipeline away that failed, or whose reader is gone, without waiting for it.
    func abandon(_ branch: CaptureBranch) {
        let isLast = state.withLock { state in
            state.running.remove(branch.name)
            return state.running.isEmpty
        }
        guard isLast else { return branch.discard() }
        let hasEnded = branch.isEnded
        letGo(besides: [])
        guard capture.needsEnding else { return pipeline.requestState(.null) }
        finishAndStop(hasEnded: hasEnded)
    }

    /// Nobody is there to be told what goes wrong: the pipeline fails with it.
    private func finishAndStop(hasEnded: Bool) {
        let capture = capture
        GStreamer.countAsTeardown(on: queue) {
            let problem = capture.finishAndWait(hasEnded: hasEnded)
            do throws(PipelineError) {
                try capture.pipeline.setStateAndWait(.null)
                if let problem = problem ?? capture.missingFile { throw problem }
            } catch { capture.pipeline.fail(error) }
        }
    }

    /// Nobody is kept waiting for a reader who has not begun.
    private func letGo(besides names: Set<String>) {
        for branch in capture.branches where !names.contains(branch.name) { branch.discard() }
    }

    private func onQueue<R>(
        _ body: () throws(PipelineError) -> R
    ) throws(PipelineError) -> R {
        let result = queue.sync { Result { () throws(PipelineError) in try body() } }
        return try result.get()
    }
}
