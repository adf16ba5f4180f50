internal import MediaBasics
internal import Synchronization

/// Shares a capture between the readers of its branches: it runs from the first reader that starts
/// to the last that stops, so that the video and the audio of one string have one time base.
///
/// Opening, starting and stopping block, and are done one at a time on a private queue. Thread: any
/// but a streaming thread.
final class CaptureRuns: Sendable {
    let capture: Capture
    /// Fills the capture's appsrcs. The pipeline refers to it weakly; this reference keeps it as long as there
    /// may be a reader.
    private let feed: (any CaptureFeed)?

    private struct State {
        /// Names of the branches that have a reader.
        var readers: Set<String> = []
        /// Names of the branches whose readers have opened the devices.
        var open: Set<String> = []
        var running: Set<String> = []
    }
    private let state = Mutex(State())
    private let queue = SerialQueue(label: "mediabridge.capture")

    init(_ capture: Capture, feed: (any CaptureFeed)? = nil) {
        self.capture = capture
        self.feed = feed
        if let feed { capture.attach(feed) }
        // No branch has a reader yet, and a branch without a reader would block all of them.
        capture.branches.forEach { $0.discard() }
    }

    private var pipeline: Pipeline { capture.pipeline }

    // MARK: Readers

    func add(_ branch: CaptureBranch) { state.withLock { _ = $0.readers.insert(branch.name) } }

    /// Removes a reader; the others go on. If it was the last, completes what the capture records.
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

    /// Opens the capture's devices: sets the pipeline to READY unless it is running.
    func open(_ branch: CaptureBranch) throws(PipelineError) {
        try onQueue { () throws(PipelineError) in
            if state.withLock({ $0.running.isEmpty }) {
                pipeline.clearOutcome()
                try pipeline.setStateAndWait(.ready)
            }
            state.withLock { _ = $0.open.insert(branch.name) }
        }
    }

    /// Starts reading a branch: starts the capture, or joins a run that another reader has started.
    ///
    /// - Parameters:
    ///   - connect: Connects the receiver; called before the first sample comes.
    ///   - onOutcome: Called with the result of the start, `nil` for success. Not called if a run
    ///     was joined.
    /// - Returns: False if a run was joined.
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
            release(besides: others)
            // Errors of a run that has no reader any more are ignored.
            _ = capture.finishAndWait(hasEnded: branch.isEnded)
            pipeline.clearOutcome()
            try pipeline.setStateAndWait(rest)
            // Only open devices report their formats.
            if rest != .ready { try pipeline.setStateAndWait(.ready) }
            for branch in capture.branches { branch.sink.preferCommonFormats() }
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
            // Not waited for: a reader that keeps the first sample until this returns also keeps
            // the lock that the state change needs.
            pipeline.requestState(.playing) { [weak capture] error in
                if error != nil { capture?.isUp = false }
                onOutcome(error)
            }
            return true
        }
    }

    /// Stops reading a branch; the last reader stops the capture.
    ///
    /// - Parameter rest: The state to set then. READY is kept if another reader has opened the
    ///   devices.
    func stop(_ branch: CaptureBranch, to rest: PipelineState) throws(PipelineError) {
        try onQueue { () throws(PipelineError) in
            let others = state.withLock { state in
                state.running.remove(branch.name)
                if rest == .null { state.open.remove(branch.name) }
                return (state.running, state.open)
            }
            guard others.0.isEmpty else { return branch.discard() }
            release(besides: [])
            let isOpen = rest == .null && !others.1.isEmpty
            let problem = capture.finishAndWait(hasEnded: branch.isEnded)
            try capture.leaveAndWait(to: isOpen ? .ready : rest)
            if let problem = problem ?? capture.missingFile { throw problem }
        }
    }

    /// Shuts down a pipeline that failed, or whose reader is gone, without waiting for it.
    func abandon(_ branch: CaptureBranch) {
        let isLast = state.withLock { state in
            state.running.remove(branch.name)
            return state.running.isEmpty
        }
        guard isLast else { return branch.discard() }
        let hasEnded = branch.isEnded
        release(besides: [])
        guard capture.needsEnding else { return pipeline.requestState(.null) }
        finishAndStop(hasEnded: hasEnded)
    }

    /// Completes what the capture records and stops it, in the background. No caller is there to
    /// receive an error, so it becomes the pipeline's failure.
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

    /// Discards the samples of all other branches, so that none waits for a reader that has not
    /// begun.
    private func release(besides names: Set<String>) {
        for branch in capture.branches where !names.contains(branch.name) { branch.discard() }
    }

    private func onQueue<R>(
        _ body: () throws(PipelineError) -> R
    ) throws(PipelineError) -> R {
        let result = queue.sync { Result { () throws(PipelineError) in try body() } }
        return try result.get()
    }
}
