internal import Synchronization

extension PipelineVideoSource {
    /// The frames, from the first on. Reading starts the pipeline; leaving the loop, in whatever way,
    /// stops it.
    ///
    /// The loop ends at the end of the stream. An error in the pipeline is thrown out of it, after the
    /// frames that came before the error. No thread is blocked meanwhile.
    public func frames() -> FrameSequence { FrameSequence(source: self) }
}

/// The frames of a ``PipelineVideoSource``, one at a time.
public struct FrameSequence: AsyncSequence, Sendable {
    let source: PipelineVideoSource

    /// Each iterator is a run of the pipeline; one at a time.
    public func makeAsyncIterator() -> Iterator { Iterator(Reader(source)) }

    public struct Iterator: AsyncIteratorProtocol {
        private let reader: Reader

        fileprivate init(_ reader: Reader) { self.reader = reader }

        /// - Throws: ``PipelineError``.
        public mutating func next() async throws -> VideoFrame? { try await reader.next() }
    }

    /// One run of the pipeline. Ends it when the iterator is gone.
    fileprivate final class Reader: Sendable {
        private enum Phase { case idle, running, ended }

        private let source: PipelineVideoSource
        private let phase = Mutex(Phase.idle)
        private let arrival = Signal()
        /// Why the pipeline did not start.
        private let refusal = Mutex<PipelineError?>(nil)

        init(_ source: PipelineVideoSource) { self.source = source }

        deinit {
            guard phase.withLock({ $0 }) == .running else { return }
            source.branch.discard()
            source.pipeline.requestState(.null)
            source.endReading()
        }

        func next() async throws(PipelineError) -> VideoFrame? {
            switch phase.withLock({ $0 }) {
            case .ended: return nil
            case .idle: try await start()
            case .running: break
            }
            while !Task.isCancelled {
                switch source.branch.tryPull() {
                case .frame(let frame): return frame
                case .sample(let sample): try await fail(.notRawVideo(sample.caps))
                case nil: break
                }
                if let failure = source.pipeline.failure ?? refusal.withLock({ $0 }) {
                    try await fail(failure)
                }
                if source.branch.isFinished {
                    // The error of another branch, or one that came with the end.
                    if let failure = source.pipeline.failure { try await fail(failure) }
                    break
                }
                await arrival.wait()
            }
            try await stop()
            return nil
        }

        private func start() async throws(PipelineError) {
            try source.beginReading()
            phase.withLock { $0 = .running }
            // A run that was left is still on its way down, and would be counted with this one.
            do {
                try await source.pipeline.setState(.null)
            } catch {
                try await fail(error)
            }
            source.branch.pull { [arrival] in arrival.signal() }
            source.capture.prepare()
            refusal.withLock { $0 = nil }
            // Not waited for: the first frames may come before the change is complete, and an appsink
            // whose queue they fill holds the lock that the change needs until they are read.
            source.pipeline.requestState(.playing) { [weak self] error in
                if let error { self?.refuse(error) }
            }
        }

        private func refuse(_ error: PipelineError) {
            refusal.withLock { $0 = error }
            arrival.signal()
        }

        private func fail(_ error: PipelineError) async throws(PipelineError) -> Never {
            do { try await stop() } catch {}  // the first error is the one to tell
            throw error
        }

        private func stop() async throws(PipelineError) {
            phase.withLock { $0 = .ended }
            source.branch.discard()
            defer { source.endReading() }
            try await source.pipeline.setState(.null)
        }
    }
}
