// Frames of programs, which are wrapped as buffers.
extension OutputBranch {
    /// Writes a frame as ``push(_:caps:time:duration:live:evicts:isHeader:)`` does.
    @discardableResult
    func accept(_ frame: borrowing some OutputFrame) -> FrameDisposition {
        guard !frame.isEmpty else { return refuse(.badSize) }
        do {
            let wrapped = try frame.wrapped()
            let caps = wrapped.caps
            return push(
                wrapped.buffer, caps: caps, time: frame.runningTime, duration: frame.length,
                live: frame.liveTiming)
        } catch {
            // The first reason is reported when the output ends.
            refusedFormats.note(error)
            return refuse(.badFormat)
        }
    }

    /// Writes a frame; suspends while the queue is full.
    ///
    /// - Throws: ``PipelineError`` for a format, and for memory that outputs do not support;
    ///   ``PipelineError/Code/interrupted`` in a task that is cancelled while it waits.
    func write(_ frame: some OutputFrame) async throws(PipelineError) -> FrameDisposition {
        guard try await untilRoom() else { return refuse(.closed) }
        let wrapped: ElementChain.BufferWithCaps
        do { wrapped = try frame.wrapped() } catch {
            _ = refuse(.badFormat)
            throw error
        }
        let caps = wrapped.caps
        return enqueue(
            wrapped.buffer, caps: caps, time: frame.runningTime, duration: frame.length,
            live: frame.liveTiming, evicts: false)
    }
}

/// A frame of video or audio, encoded or not, that an output writes.
protocol OutputFrame: MediaFrame {
    /// How long the frame lasts, if it says so.
    var length: MediaTime? { get }
    borrowing func wrapped() throws(PipelineError) -> ElementChain.BufferWithCaps
}

extension VideoFrame: OutputFrame {
    var length: MediaTime? { duration }
}

extension EncodedVideoFrame: OutputFrame {
    var length: MediaTime? { duration }
}

extension EncodedAudioFrame: OutputFrame {
    var length: MediaTime? { duration }
}

extension AudioFrame: OutputFrame {
    var length: MediaTime? { duration }
}
