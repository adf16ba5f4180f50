internal import MediaBasics
internal import Synchronization

/// What a detector looks at.
enum DetectorMedia: Sendable {
    case picture(VideoFrame)
    case sound(AudioFrame)
    /// A unit of encoded audio.
    case unit(MediaSample)
}

/// The inlet of one detector: chooses what it is to see, and keeps it until the queue of the analysis has time. Of a
/// live stream, the newest picture replaces one that waits; any other caller waits.
///
/// Thread: any, one caller at a time.
final class DetectorRun: Sendable {
    let work: DetectorWork
    private let mailbox: Mailbox<DetectorMedia>
    /// When the next picture is due; `nil` before the first.
    private let due = Mutex<MediaTime?>(nil)
    /// The time between two pictures; zero: every picture.
    private let interval: MediaTime

    /// How much too early a picture may be because its time was rounded.
    private static let rounding = MediaTime(nanoseconds: 1_000_000)
    /// The number of blocks of audio that may wait. They are short.
    private static let soundDepth = 16

    init(_ work: DetectorWork, on queue: SerialQueue) {
        self.work = work
        let rate = work.analysis?.rate ?? 0
        interval = rate > 0 ? MediaTime(seconds: 1 / rate) : .zero
        let depth = work.analysis == nil ? Self.soundDepth : 1
        mailbox = Mailbox(depth: depth, on: queue, of: .system) { work.take($0) }
    }

    /// Whether the detector is to see the picture of this time.
    func wants(_ time: MediaTime?) -> Bool {
        guard interval > .zero, let time, let due = due.withLock({ $0 }) else { return true }
        // Times that have restarted begin a new grid.
        return time + Self.rounding >= due || due - time > interval + interval
    }

    /// Gives the detector a picture or a block of audio, if it is due.
    func offer(_ media: DetectorMedia, at time: MediaTime?, isLive: Bool) {
        guard let time, wants(time) else { return }
        due.withLock { due in
            let isOnGrid = due.map { time - $0 < interval && $0 - time <= Self.rounding } ?? false
            due = (isOnGrid ? due ?? time : time) + interval
        }
        work.count { $0.offered += 1 }
        if isLive {
            let placement = mailbox.place(media)
            if placement.evicted != nil { work.count { $0.dropped[.evicted] += 1 } }
            if placement.verdict == .closed { work.count { $0.dropped[.closed] += 1 } }
            if placement.needsWake { mailbox.wake() }
        } else if mailbox.post(media, whenFull: .wait(atMost: .seconds(1 << 30))) != .taken {
            work.count { $0.dropped[.closed] += 1 }
        }
    }

    /// Refuses further media, and releases a caller that waits. What waits is still looked at.
    func close() { mailbox.close() }
}

/// Calls one detector.
///
/// `@unchecked Sendable`: the detector is used only on the queue of the analysis, once it is created.
final class DetectorWork: @unchecked Sendable {
    private enum Detector {
        case pictures(any VideoDetector)
        case sound(any AudioDetector)
    }
    private struct State {
        var balance = FrameBalance()
        /// Why the detector was given up; `nil` if it was not.
        var failure: PipelineError?
        var isOver = false
    }
    let name: String
    /// What the detector wants of pictures; `nil` if it listens to audio.
    let analysis: PictureAnalysis?
    private let plan: StreamDetector
    private let stream: String
    private var detector: Detector
    private let converter = FrameConverter()
    private let soundConverter = SoundConverter()
    private let audioDecoding = AudioDecoding()
    private let state = Mutex(State())
    private let detection: Detection

    init(_ plan: StreamDetector, of stream: String, to detection: Detection) {
        (self.plan, self.stream, self.detection) = (plan, stream, detection)
        name = plan.name
        switch plan.make {
        case .pictures(let make):
            let made = make()
            (detector, analysis) = (.pictures(made), made.analysis)
        case .sound(let make): (detector, analysis) = (.sound(make()), nil)
        }
    }

    func count(_ body: (inout FrameBalance) -> Void) {
        state.withLock { body(&$0.balance) }
    }

    /// The counts so far, and why the detector was given up.
    ///
    /// - Parameter lost: Units that gave no picture for the detector, by cause.
    func counts(with lost: DropCounts) -> StreamCounts {
        let (balance, failure) = state.withLock { ($0.balance, $0.failure) }
        var counts = StreamCounts(
            balance + FrameBalance(offered: lost.total, dropped: lost))
        counts.events = detection.count(of: name)
        counts.failure = failure
        return counts
    }

    /// Ends the detector: it is not called again. Thread: any.
    func end(because failure: PipelineError? = nil) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            if !state.isOver { state.failure = failure }
            return !state.isOver
        }
        if isFirst { detection.detectorEnded(name, because: failure) }
    }

    /// Looks at one picture, or listens to one block of audio. Thread: the queue.
    func take(_ media: DetectorMedia) {
        guard state.withLock({ !$0.isOver }) else { return count { $0.dropped[.closed] += 1 } }
        do {
            switch media {
            case .picture(let frame): try look(at: frame)
            case .sound(let frame): try listen(to: frame)
            case .unit(let sample):
                for frame in try audioDecoding.decode(EncodedAudioFrame(sample)) ?? [] {
                    try listen(to: frame)
                }
            }
            count { $0.delivered += 1 }
        } catch {
            count { $0.dropped[.failed] += 1 }
            end(
                because: PipelineError(
                    .elementFailed, message: "the detector \"\(name)\" failed: \(error)",
                    advice: "a recording of its events goes on until the end"))
        }
    }

    private func look(at frame: VideoFrame) throws {
        guard case .pictures(var detector) = detector, let analysis else { return }
        let conversion = VideoConversion(
            pixelFormat: analysis.pixelFormat, size: analysis.size(of: frame.format),
            fillsSize: true)
        let finding = try detector.inspect(converter.convert(frame, to: conversion))
        self.detector = .pictures(detector)
        note(finding, at: frame.runningTime, frame.liveTiming)
    }

    private func listen(to frame: AudioFrame) throws {
        guard case .sound(var detector) = detector else { return }
        let target = AudioConversion(sampleFormat: .f32le, channels: 1, isPlanar: false)
        guard let block = try soundConverter.convert(frame, to: target) else { return }
        let finding = try detector.inspect(block)
        self.detector = .sound(detector)
        note(finding, at: frame.runningTime, frame.liveTiming)
    }

    private func note(_ finding: Finding, at time: MediaTime?, _ live: LiveTiming?) {
        guard let time, state.withLock({ !$0.isOver }) else { return }
        detection.note(finding, by: plan, in: stream, at: time, live)
    }
}

extension PictureAnalysis {
    /// Returns the size to which pictures of a format are scaled, with square pixels.
    func size(of format: VideoFormat) -> VideoSize {
        let ratio = format.pixelAspectRatio.value
        let width = Double(format.width) * (ratio > 0 ? ratio : 1)
        let scale = min(1, Double(size.width) / width, Double(size.height) / Double(format.height))
        return VideoSize(
            width: max(1, Int((width * scale).rounded())),
            height: max(1, Int((Double(format.height) * scale).rounded())))
    }
}
