public import MediaCore
internal import Synchronization

/// An event of an engine.
public enum EngineEvent: Sendable {
    /// The state of the local video: capturing, or not.
    case localVideoState(LocalMediaState)
    /// The first frame of a local track since the track began to run.
    case firstLocalFrame(TrackID, VideoSize)
    /// Another video source of a local track has become active.
    case sourceSwitched(TrackID)
    /// The video source of a local track has ended, for example at the end of a file.
    case sourceEnded(TrackID)
    /// The video source of a local track cannot continue, or could not be stopped.
    case sourceFailed(TrackID, EngineError)
    /// The video source of the main track has delivered no frame for this long.
    case sourceStalled(TrackID, Duration)
    /// The video source of the main track delivers frames again after a stall.
    case sourceResumed(TrackID)
    /// A failed video source is being restarted; the number of the attempt, from 1.
    case sourceRestarting(TrackID, attempt: Int)
    /// A receiver of this track's encoded units joined late or lost a unit: have the encoder
    /// produce a key frame. The engine also asks a source for it
    /// (``VideoSource/requestKeyFrame()``).
    case keyFrameNeeded(TrackID)

    /// A renderer failed. If it could not be started it gets no more frames; if one frame failed it
    /// continues.
    case rendererFailed(RendererID, EngineError)
    /// A renderer has been busy with one frame for too long; the other renderers are not affected.
    case rendererStalled(RendererID)
    /// A renderer takes frames again.
    case rendererResumed(RendererID)
    /// A processor of a local track threw or is too slow. It is skipped if that happens repeatedly.
    case processorFailed(TrackID, ProcessingPoint, EngineError)

    /// The engine has joined a channel.
    case joined(channel: String, as: UserID)
    /// The engine has left the channel at the program's request.
    case left(channel: String)
    /// The channel is gone; the engine is no longer in it.
    case disconnected(EngineError)
    /// Another user is in the channel.
    case userJoined(UserID)
    /// Another user is no longer in the channel, and why.
    case userOffline(UserID, OfflineReason)
    /// A user has announced a video track.
    case trackPublished(TrackID, by: UserID)
    /// A user has ended a video track.
    case trackUnpublished(TrackID, by: UserID)
    /// A user has muted a video track (`true`), or sends it again.
    case videoMuted(Bool, TrackID, by: UserID)
    /// The first frame of a user's track since the track was published. Tracks without a receiver
    /// are not transported.
    case firstRemoteFrame(UserID, TrackID, VideoSize)
    /// The connection to the channel is interrupted, or is restored. The engine stays in the channel:
    /// users, tracks, renderers and the source are as before.
    case connectionChanged(ChannelConnection)
    /// The state of a track's publication: whether the track has receivers, or why it failed.
    case publicationChanged(TrackID, PublicationState)
    /// The largest form of a track that the receivers and the network can use.
    case publicationLimited(TrackID, VideoLimit)
    /// The source of a track keeps to these parts of the limit from now on (``VideoSource/adapt(to:)``).
    case sourceLimited(TrackID, VideoLimit)
    /// A message from another user.
    case messageReceived(ChannelMessage, from: UserID)

    /// The state of the local audio: capturing, or not.
    case localAudioState(LocalMediaState)
    /// The first local audio frame since its source was started.
    case firstLocalAudio(AudioFormat)
    /// The audio source has ended.
    case audioSourceEnded
    /// The audio source cannot continue, or could not be started (for example, no sound card).
    /// Video continues.
    case audioSourceFailed(EngineError)
    /// A failed audio source is being restarted; the number of the attempt, from 1.
    case audioSourceRestarting(attempt: Int)
    /// The audio source has delivered nothing for this long. Receivers hear nothing meanwhile.
    case audioSourceStalled(Duration)
    /// The audio source delivers again after a stall.
    case audioSourceResumed
    /// Samples were missing or came twice. Posted at most once per second; the statistics count
    /// all.
    case audioCorrected(AudioContinuity.Correction)
    /// An audio processor threw.
    case audioProcessorFailed(EngineError)
    /// An audio sink failed. If it could not be started it gets no more frames; if one frame failed
    /// it continues.
    case audioSinkFailed(AudioSinkID, EngineError)
    /// An audio sink has been busy with one frame for too long; the other sinks are not affected.
    case audioSinkStalled(AudioSinkID)
    /// An audio sink takes frames again.
    case audioSinkResumed(AudioSinkID)
    /// A user has announced audio.
    case audioPublished(by: UserID)
    /// A user has ended its audio.
    case audioUnpublished(by: UserID)
    /// A user has muted its audio (`true`), or sends it again.
    case audioMuted(Bool, by: UserID)
    /// The engine's own audio cannot be encoded for the channel.
    case audioPublicationFailed(EngineError)
    /// The first audio frame of a user since its audio was published. For encoded audio without a
    /// listener, the format has 16-bit samples.
    case firstRemoteAudio(UserID, AudioFormat)
    /// A user's audio cannot be decoded or mixed.
    case playbackFailed(EngineError)

    /// The statistics, every ``MediaEngine/Configuration/statisticsInterval`` (two seconds by
    /// default) while preview or channel runs.
    case statistics(EngineStatistics)
    /// A request had no effect, or a source is not played as it states; the reason as text.
    case warning(String)
}

/// The state of the local video, or of the local audio.
public enum LocalMediaState: Sendable {
    /// Stopped, capturing, or failed.
    case stopped, capturing, failed
}

/// The id of an audio sink in an engine.
public struct AudioSinkID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    /// `audio sink` and the number.
    public var description: String { "audio sink \(number)" }
}

/// The id of a renderer in an engine.
public struct RendererID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    /// `renderer` and the number.
    public var description: String { "renderer \(number)" }
}

/// The points of a track at which processors work.
public enum ProcessingPoint: Sendable, CaseIterable {
    /// After the source: all receivers get the result.
    case capture
    /// Before the channel: only the channel gets the result.
    case encode
    /// Before local renderers: only they get the result.
    case render
}

// MARK: Listening

/// The events of an engine, in order, from the moment when this sequence was requested.
///
/// Events need not be read: at most the newest 256 unread ones are kept, and ``missed`` counts the
/// others. The sequence ends when the engine is shut down. Each value supports one reader.
public struct EngineEvents: AsyncSequence, Sendable {
    private let stream: AsyncStream<EngineEvent>
    private let missedEvents: Missed

    final class Missed: Sendable {
        let count = Atomic<Int>(0)
    }

    init(_ stream: AsyncStream<EngineEvent>, _ missed: Missed) {
        self.stream = stream
        missedEvents = missed
    }

    /// The number of unread events that were dropped in favour of newer ones.
    public var missed: Int { missedEvents.count.load(ordering: .relaxed) }

    /// Creates the iterator of the sequence's one reader.
    public func makeAsyncIterator() -> AsyncStream<EngineEvent>.AsyncIterator {
        stream.makeAsyncIterator()
    }
}

/// Distributes events to all listeners. Thread: any.
final class EventHub: Sendable {
    private struct Listener: Sendable {
        let continuation: AsyncStream<EngineEvent>.Continuation
        let missed: EngineEvents.Missed
    }
    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
        var isFinished = false
    }
    private let state = Mutex(State())
    private static let depth = 256

    func subscribe() -> EngineEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineEvent.self, bufferingPolicy: .bufferingNewest(Self.depth))
        let missed = EngineEvents.Missed()
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.listeners[state.next] = Listener(continuation: continuation, missed: missed)
            return state.next
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                // The listener is released outside the lock.
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        } else {
            continuation.finish()
        }
        return EngineEvents(stream, missed)
    }

    /// The number of current listeners.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    func post(_ event: EngineEvent) {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners.values {
            if case .dropped = listener.continuation.yield(event) {
                listener.missed.count.add(1, ordering: .relaxed)
            }
        }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return state.listeners
        }
        listeners.values.forEach { $0.continuation.finish() }
    }
}
