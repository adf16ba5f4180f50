/// A source or sink of the program, which an engine initialises, starts, stops and disposes of.
///
/// A class conforms to ``VideoSource``, ``AudioSource``, ``VideoSink`` or ``AudioSink``, which add what
/// they deliver or take. An engine first queries the object, once; then start and stop may repeat,
/// and so may initialise and dispose. All calls come from one caller, never overlap and are never
/// made on the main thread, so a conforming class need not be Sendable.
///
/// Source: the life cycle of Agora's `AgoraVideoSourceProtocol` and `AgoraVideoSinkProtocol`.
public protocol MediaEndpoint: AnyObject {
    /// Allocates the resources of the object. If it returns `false` or throws, the object is not
    /// started. Default `true`.
    func shouldInitialize() throws -> Bool

    /// Begins a run: a source delivers to its consumer from here on, a sink gets frames afterwards.
    /// If it throws, the object is not started. Default for sinks: does nothing.
    func shouldStart() throws

    /// Ends a run: frames that a source delivers later are discarded and counted, a sink gets no
    /// more frames. An error that it throws is reported and has no other effect. Default for sinks:
    /// does nothing.
    func shouldStop() throws

    /// Releases the resources that ``shouldInitialize()`` allocated. The consumer of a source must
    /// not be used any more. An error that it throws is reported and has no other effect. Default:
    /// does nothing.
    func shouldDispose() throws
}

extension MediaEndpoint {
    public func shouldInitialize() throws -> Bool { true }
    public func shouldDispose() throws {}
}

/// A sink with a bounded queue of its own. The engine renders a frame on the thread that delivers it
/// if the sink takes it at once, and puts no queue and no thread in between.
package protocol QueueingSink: AnyObject, Sendable {
    /// Whether the sink would queue a frame without waiting for room and without converting it.
    /// Thread: any.
    ///
    /// - Parameter live: The frame's timing; `nil` if it is not from a live source.
    func queuesAtOnce(_ live: LiveTiming?) -> Bool
}

/// When a source that failed is started again.
public struct RestartPolicy: Sendable {
    /// The delay before the first attempt; doubled after each failure. Default 0.5 s.
    public var delay = Duration.milliseconds(500)
    /// The maximum delay between attempts. Default 30 s.
    public var longestDelay = Duration.seconds(30)
    /// The maximum number of consecutive attempts; `nil`, the default, for no limit.
    public var attempts: Int?
    /// How long a source must deliver until it counts as recovered and its attempts are counted
    /// from the first again. Default 1 s.
    public var recoveryTime = Duration.seconds(1)

    /// Creates a policy with the default values.
    public init() {}

    /// Returns the delay before the next attempt; `nil` if there is to be none.
    ///
    /// - Parameter failures: The number of consecutive attempts that have failed.
    package func delay(after failures: Int) -> Duration? {
        guard attempts.map({ failures < $0 }) ?? true else { return nil }
        return min(delay * (1 << min(failures, 20)), longestDelay)
    }

    /// Returns the delay before the next attempt minus a random part of up to half of it, so that the clients of
    /// a server do not all reconnect at once. It ignores ``attempts``.
    ///
    /// - Parameter failures: The number of consecutive attempts that have failed.
    package func randomDelay(after failures: Int) -> Duration {
        var unlimited = self
        unlimited.attempts = nil
        return (unlimited.delay(after: failures) ?? longestDelay) * Double.random(in: 0.5...1)
    }
}

/// Counts the attempts to start a source again that has failed.
package struct RestartAttempts: Sendable {
    /// The number of attempts since the source last recovered.
    private var count = 0
    /// The time of the latest attempt, and what the source had delivered before it.
    private var latest: (at: MediaTime, delivered: Int)?

    package init() {}

    /// Returns the number of the next attempt and the delay before it; `nil` if there is to be none.
    ///
    /// A source that has delivered for ``RestartPolicy/recoveryTime`` since the latest attempt has
    /// recovered, and its attempts are counted from the first again. One that fails after ten frames
    /// each time has not recovered.
    ///
    /// - Parameter delivered: The number of frames that the source has delivered so far.
    package mutating func next(
        _ policy: RestartPolicy, at now: MediaTime, delivered: Int
    ) -> (number: Int, delay: Duration)? {
        if let latest, delivered > latest.delivered,
            now - latest.at >= MediaTime(policy.recoveryTime)
        {
            count = 0
        }
        guard let delay = policy.delay(after: count) else { return nil }
        count += 1
        return (count, delay)
    }

    /// Notes that an attempt begins.
    package mutating func begin(at now: MediaTime, delivered: Int) { latest = (now, delivered) }
}

/// What happens to a frame that arrives while a queue is full.
public enum WhenFull: Sendable {
    /// The behaviour that suits the source of the frame: see the property that takes this value.
    case automatic
    /// Evicts the oldest frame.
    case evictOldest
    /// The caller that hands the frame over waits.
    case wait

    /// Whether the caller waits, if the automatic behaviour is to wait for frames that are not live.
    package func waits(isLive: Bool) -> Bool {
        switch self {
        case .automatic: !isLive
        case .evictOldest: false
        case .wait: true
        }
    }
}

// MARK: Frames

/// A frame of pictures or of sound.
package protocol MediaFrame: Sendable {
    /// When the frame is due, in the running time of its source; `nil` if it has no time.
    var runningTime: MediaTime? { get }
    /// Timing of a live source; `nil` on frames of any other.
    var liveTiming: LiveTiming? { get }
    /// Whether the frame contains nothing.
    var isEmpty: Bool { get }
    /// Which other encoded frames an encoded frame refers to; `nil` for a frame that stands by itself.
    var unitReferences: EncodedVideoFrameReferences? { get }
}

extension MediaFrame {
    package var unitReferences: EncodedVideoFrameReferences? { nil }
}

extension VideoFrame: MediaFrame {
    package var isEmpty: Bool { false }
}

extension EncodedVideoFrame: MediaFrame {
    package var isEmpty: Bool { byteCount == 0 }
}

extension EncodedAudioFrame: MediaFrame {
    package var isEmpty: Bool { byteCount == 0 }
}

extension AudioFrame: MediaFrame {
    package var isEmpty: Bool { sampleCount == 0 }
}
