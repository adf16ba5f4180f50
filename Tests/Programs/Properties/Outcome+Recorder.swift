import Dispatch
import MediaBridge
import Synchronization

/// Runs a blocking body on a dispatch queue.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}

extension MutatedCapture {
    func runRecorder(_ path: String) async throws -> Outcome {
        let recorder = try Recorder(path, configuration: recording)
        try recorder.start()
        var outcome = Outcome()
        outcome.dispositions = try await onThread {
            try push(pictures: { recorder.consume($0) }, sound: { recorder.consume($0) })
        }
        do {
            try await recorder.stop()
        } catch { outcome.failures.append("\(error)") }
        outcome.add(recorder.report)
        return outcome
    }

    /// Offers all frames, one after the other.
    private func push(
        pictures: (VideoFrame) -> FrameDisposition, sound: (AudioFrame) -> FrameDisposition
    ) throws -> [FrameDisposition] {
        var dispositions = offeredPictures.map { _ in FrameDisposition.dropped(.notStarted) }
        for item in offered {
            switch item {
            case .picture(let number, let picture):
                dispositions[number] = pictures(try picture.frame(isLive: isLive))
            case .sound(let piece): _ = sound(try piece.frame(isLive: isLive))
            }
        }
        return dispositions
    }

    // MARK: Engines

    func runEngine(_ path: String) async throws -> Outcome {
        var configuration = MediaEngine.Configuration()
        configuration.isRealTime = false
        let engine = MediaEngine(configuration: configuration)
        let events = engine.events
        var outcome = Outcome()
        let recorder = way == .engineSink ? nil : try Recorder(path, configuration: recording)
        let door = Door()
        if way == .engineRecord {
            let source = try PipelineVideoSource(captureText)
            if hasSound { try await engine.setAudioSource(source.audio) }
            try await engine.setVideoSource(source)
        } else {
            try await engine.setVideoSource(PushedSource(door))
        }
        var sink: PipelineVideoSink?
        if let recorder {
            try await engine.addRecorder(recorder)
            try recorder.start()
        } else {
            let made = try PipelineVideoSink(outputText(to: path))
            sink = made
            try await engine.addVideoSink(made, to: .local())
        }
        try await engine.startPreview()
        if way == .engineRecord {
            var running = hasSound ? 2 : 1
            loop: for await event in events {
                switch event {
                case .sourceEnded:
                    running -= 1
                    if running == 0 { break loop }
                case .sourceFailed:
                    outcome.failures.append("\(event)")
                    break loop
                default: break
                }
            }
        } else {
            outcome.dispositions = try await onThread {
                try push(pictures: { door.consume($0) }, sound: { _ in .dropped(.notEnabled) })
            }
        }
        try await engine.stopPreview()
        await engine.shutDown()
        if let sink {
            let report = sink.statistics
            outcome.files = [Outcome.File(path: path, pictures: report.frames)]
            outcome.pictures = Outcome.Counts(
                offered: report.balance.offered, written: report.frames, dropped: report.dropped)
        }
        if let recorder {
            do {
                try await recorder.stop()
            } catch { outcome.failures.append("\(error)") }
            outcome.add(recorder.report)
        }
        return outcome
    }

    /// The point where frames are offered to an engine.
    private final class Door: Sendable {
        private let consumer = Mutex<(any VideoFrameConsumer)?>(nil)

        func open(to new: (any VideoFrameConsumer)?) { consumer.withLock { $0 = new } }

        func consume(_ frame: VideoFrame) -> FrameDisposition {
            consumer.withLock { $0 }?.consume(frame) ?? .dropped(.notStarted)
        }
    }

    private final class PushedSource: VideoSource {
        private let door: Door
        var consumer: (any VideoFrameConsumer)? { didSet { door.open(to: consumer) } }

        init(_ door: Door) { self.door = door }

        func bufferType() -> VideoBufferType { .pixelBuffer }
        func shouldInitialize() throws -> Bool { true }
        func shouldStart() throws {}
        func shouldStop() throws {}
        func shouldDispose() throws {}
    }
}
