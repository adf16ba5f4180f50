internal import Synchronization

/// A state that a detector found in a stream, from its beginning to its end. A state that is absent for less than a
/// second goes on.
public struct DetectedEvent: Equatable, Sendable {
    /// The name of the detector.
    public var detector: String
    /// The name of the stream.
    public var stream: String
    /// The running time of the first picture or block of audio in which the state is present.
    public var began: MediaTime
    /// The running time of the first one in which it is not present any more; `nil` while it lasts.
    public var ended: MediaTime?
    /// The highest score so far.
    public var score: Double
}

extension DetectedEvent: CustomStringConvertible {
    /// `motion in video from 0:00:01.200000000 to 0:00:05.200000000`
    public var description: String {
        "\(detector) in \(stream) from \(began)" + (ended.map { " to \($0)" } ?? "")
    }
}

/// Receives the findings of a bridge's detectors: keeps the events, and informs the recorders. Thread: any.
final class Detection: Sendable {
    private struct Current {
        var event: DetectedEvent
        /// The first time at which the state was absent, after the last at which it was present.
        var absent: MediaTime?
        var last: MediaTime
    }
    private struct State {
        var current: [String: Current] = [:]
        var past: [DetectedEvent] = []
        var counts: [String: Int] = [:]

        mutating func end(_ detector: String, at time: MediaTime) -> DetectedEvent? {
            guard var event = current.removeValue(forKey: detector)?.event else { return nil }
            event.ended = time
            past.append(event)
            if past.count > Detection.limit { past.removeFirst() }
            return event
        }
    }
    private let state = Mutex(State())
    private let recorders: [Recorder]
    private let notify: @Sendable (DetectedEvent) -> Void
    private let onFailure: @Sendable (PipelineError) -> Void

    private static let pause = MediaTime(nanoseconds: 1_000_000_000)
    /// The number of events that are kept.
    private static let limit = 1_000

    /// - Parameters:
    ///   - notify: Called when an event begins and when it ends, on the thread of the detectors.
    ///   - onFailure: Called when a detector is given up.
    init(
        for recorders: [Recorder], notify: @escaping @Sendable (DetectedEvent) -> Void,
        onFailure: @escaping @Sendable (PipelineError) -> Void
    ) {
        (self.recorders, self.notify, self.onFailure) = (recorders, notify, onFailure)
    }

    /// The newest events in the order in which they ended, then the present ones.
    var events: [DetectedEvent] {
        state.withLock { state in
            state.past + state.current.values.map(\.event).sorted { $0.began < $1.began }
        }
    }

    /// The number of events of a detector that began.
    func count(of detector: String) -> Int { state.withLock { $0.counts[detector, default: 0] } }

    func note(
        _ finding: Finding, by detector: StreamDetector, in stream: String, at time: MediaTime,
        _ live: LiveTiming?
    ) {
        let name = detector.name
        let news = state.withLock { state -> DetectedEvent? in
            guard var current = state.current[name] else {
                guard finding.isPresent else { return nil }
                let event = DetectedEvent(
                    detector: name, stream: stream, began: time, score: finding.score)
                state.current[name] = Current(event: event, last: time)
                state.counts[name, default: 0] += 1
                return event
            }
            current.last = time
            current.absent = finding.isPresent ? nil : current.absent ?? time
            if finding.isPresent { current.event.score = max(current.event.score, finding.score) }
            state.current[name] = current
            guard let absent = current.absent, time - absent >= Self.pause else { return nil }
            return state.end(name, at: absent)
        }
        let begins = news.map { $0.ended == nil } ?? false
        for recorder in recorders {
            recorder.note(
                name, isPresent: finding.isPresent, begins: begins, at: time, live,
                of: RecordedStream(detector.kind))
        }
        if let news { notify(news) }
    }

    /// Notes that a detector finds nothing more, because of its failure or at the end.
    func detectorEnded(_ detector: String, because failure: PipelineError?) {
        for recorder in recorders {
            recorder.detectorEnded(detector, hasFailed: failure != nil)
        }
        let news = state.withLock { state in
            state.current[detector].flatMap { state.end(detector, at: $0.absent ?? $0.last) }
        }
        if let news { notify(news) }
        if let failure { onFailure(failure) }
    }
}
