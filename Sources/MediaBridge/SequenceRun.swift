internal import MediaBasics
internal import Synchronization

/// One run of a capture that is read as a sequence. It begins with the first call, and ends with the
/// stream, with an error, or when nobody holds it any more.
final class SequenceRun: Sendable {
    private enum Phase { case idle, running, ended }

    private let reader: CaptureReader
    private let phase = Mutex(Phase.idle)
    private let arrival = Signal()
    /// Why the pipeline did not start.
    private let refusal = Mutex<PipelineError?>(nil)
    /// Where state changes are waited for.
    private let control = SerialQueue(label: "mediabridge.sequence")

    init(_ reader: CaptureReader) { self.reader = reader }

    deinit {
        guard phase.withLock({ $0 }) == .running else { return }
        reader.runs.abandon(reader.branch)
        reader.branch.discard()
        reader.endReading()
    }

    /// The next item; `nil` at the end, and in a task that was cancelled.
    func next() async throws(PipelineError) -> SampleTranslation.Item? {
        switch phase.withLock({ $0 }) {
        case .ended: return nil
        case .idle: try await start()
        case .running: break
        }
        while !Task.isCancelled {
            if let item = reader.branch.tryPull() { return item }
            if let failure = reader.pipeline.failure ?? refusal.withLock({ $0 }) {
                try await fail(failure)
            }
            if reader.branch.isFinished {
                // The error of another branch, or one that came with the end.
                if let failure = reader.pipeline.failure ?? reader.branch.loss {
                    try await fail(failure)
                }
                break
            }
            await arrival.wait()
        }
        try await stop()
        return nil
    }

    private func start() async throws(PipelineError) {
        try reader.beginReading()
        phase.withLock { $0 = .running }
        refusal.withLock { $0 = nil }
        do throws(PipelineError) {
            // A run that was left is still on its way down, and would be counted with this one.
            try await onControl { [self] () throws(PipelineError) in
                _ = try reader.runs.start(reader.branch, from: .null) {
                    reader.branch.pull { [arrival] in arrival.signal() }
                } onOutcome: { [weak self] error in
                    if let error { self?.refuse(error) }
                }
            }
        } catch {
            try await fail(error)
        }
    }

    private func refuse(_ error: PipelineError) {
        refusal.withLock { $0 = error }
        arrival.signal()
    }

    func fail(_ error: PipelineError) async throws(PipelineError) -> Never {
        do { try await stop() } catch {}  // the first error is the one to tell
        throw error
    }

    private func stop() async throws(PipelineError) {
        phase.withLock { $0 = .ended }
        reader.branch.discard()
        defer { reader.endReading() }
        try await onControl { [self] () throws(PipelineError) in
            try reader.runs.stop(reader.branch, to: .null)
        }
    }

    /// State changes block, and so have a thread of their own.
    private func onControl(
        _ body: @escaping @Sendable () throws(PipelineError) -> Void
    ) async throws(PipelineError) {
        let result = await withCheckedContinuation { continuation in
            control.async {
                continuation.resume(
                    returning: Result { () throws(PipelineError) in try body() })
            }
        }
        try result.get()
    }
}
