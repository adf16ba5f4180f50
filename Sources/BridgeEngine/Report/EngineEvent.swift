public import MediaCore
internal import Synchronization

/// An event of an engine.
///
/// ```swift
/// for await event in engine.events {
///     switch event {
///     case .firstFrame(_, let size): print("running, \(size)")
///     case .sourceFailed(_, let error), .sinkFailed(_, let error): print(error)
///     case .sourceEnded: await engine.shutDown()  // ends the loop
///     default: break
///     }
/// }
/// ```
public enum EngineEvent: Sendable {
    /// The state of the main track, or of the audio: capturing, or not.
    case localState(MediaTrackID, LocalMediaState)
    /// The first frame of a video track since the track began to run, or since a user published it. Tracks of
    /// users without a receiver are not transported.
    case firstFrame(VideoStreamID, VideoSize)
    /// The first audio frame since the source was started, or since a user published it. For encoded audio
    /// without a listener, the format has 16-bit samples.
    case firstAudio(AudioStreamID, AudioFormat)
    /// Another source of a local track has become active.
    case sourceSwitched(MediaTrackID)
    /// The source of a local track has ended, for example at the end of a file.
    case sourceEnded(MediaTrackID)
    /// The source of a local track cannot continue, or could not be stopped. For audio also: it could
    /// not be started (for example, no sound card), and video continues.
    case sourceFailed(MediaTrackID, EngineError)
    /// The source of the main track, or of the audio, has delivered no frame for this long.
    case sourceStalled(MediaTrackID, Duration)
    /// The source of the main track, or of the audio, delivers frames again after a stall.
    case sourceResumed(MediaTrackID)
    /// A failed source is being restarted; the number of the attempt, from 1.
    case sourceRestarting(MediaTrackID, attempt: Int)
    /// The source of a video track keeps to these parts of the limit from now on (``VideoSource/adapt(to:)``).
    case sourceLimited(TrackID, VideoLimit)
    /// A receiver of this track's encoded frames joined late or lost a frame: have the encoder
    /// produce a key frame. The engine also asks a source for it
    /// (``VideoSource/requestKeyFrame()``).
    case keyFrameNeeded(TrackID)
    /// Samples of the local audio were missing or came twice; the corrections so far. Posted at most once per
    /// second.
    case audioCorrected(AudioCorrectionCounts)
    /// A processor of a local track threw or is too slow. A video processor is skipped if that happens
    /// repeatedly. Audio processors are at ``ProcessingPoint/capture``.
    case processorFailed(MediaTrackID, ProcessingPoint, EngineError)

    /// A sink failed. If it could not be started it gets no more frames; if one
    /// frame failed it continues.
    case sinkFailed(SinkID, EngineError)
    /// A sink has been busy with one frame for too long; the others are not affected.
    case sinkStalled(SinkID)
    /// A sink takes frames again.
    case sinkResumed(SinkID)

    /// The engine has joined a channel.
    case joined(channel: String, as: UserID)
    /// The engine has left the channel at the program's request.
    case left(channel: String)
    /// The channel is gone; the engine is no longer in it.
    case disconnected(EngineError)
    /// The connection to the channel is interrupted and is being restored: the number of the attempt,
    /// from 1, and why the previous one failed. Nothing is sent or received meanwhile. The engine stays
    /// in the channel: users, tracks, sinks and the source are as before.
    case reconnecting(attempt: Int, EngineError)
    /// The connection to the channel is restored after an interruption.
    case reconnected
    /// Another user is in the channel.
    case userJoined(UserID)
    /// Another user is no longer in the channel, and why.
    case userOffline(UserID, OfflineReason)
    /// A user has announced a video track or audio.
    case published(MediaTrackID, by: UserID)
    /// A user has ended a video track or its audio.
    case unpublished(MediaTrackID, by: UserID)
    /// A user has muted a video track or its audio (`true`), or sends it again.
    case muted(Bool, MediaTrackID, by: UserID)
    /// A user's audio cannot be decoded or mixed.
    case playbackFailed(EngineError)
    /// The state of a publication: whether a video track has receivers, or why the track or the audio
    /// is no longer sent. For audio, only failures are reported.
    case publicationChanged(MediaTrackID, PublicationState)
    /// The largest form of a video track that the receivers and the network can use.
    case publicationLimited(TrackID, VideoLimit)
    /// A message from another user.
    case messageReceived(ChannelMessage, from: UserID)

    /// The statistics, every ``MediaEngine/Configuration/statisticsInterval`` (two seconds by
    /// default) while preview or channel runs.
    case statistics(EngineStatistics)
    /// A request had no effect, a source is not played as it states, or another encoder has taken over from one that
    /// failed; the reason as text.
    case warning(String)
}

/// The state of the local video, or of the local audio.
public enum LocalMediaState: Sendable {
    /// Stopped, capturing, or failed.
    case stopped, capturing, failed
}

/// The id of a sink in an engine.
public enum SinkID: Hashable, Sendable, CustomStringConvertible {
    /// The video sink with this number.
    case video(Int)
    /// The audio sink with this number.
    case audio(Int)

    init(_ kind: MediaKind, _ number: Int) {
        self = kind == .video ? .video(number) : .audio(number)
    }

    var number: Int {
        switch self {
        case .video(let number), .audio(let number): number
        }
    }

    /// `video sink` or `audio sink`, and the number.
    public var description: String {
        switch self {
        case .video: "video sink \(number)"
        case .audio: "audio sink \(number)"
        }
    }
}

/// The points of a track at which processors work.
public enum ProcessingPoint: Sendable, CaseIterable {
    /// After the source: all receivers get the result.
    case capture
    /// Before the channel: only the channel gets the result.
    case encode
    /// Before local video sinks: only they get the result.
    case render
}

// MARK: Waiting

extension EventSequence<EngineEvent> {
    /// Waits until a source has ended. Request the sequence before the source starts, so that it has the event.
    ///
    /// ```swift
    /// let events = engine.events
    /// try await engine.startPreview()
    /// try await events.waitForSourceEnd()
    /// ```
    ///
    /// - Parameter track: The track of the source. Default: the main video track.
    /// - Throws: The error with which the source failed, also if ``MediaEngine/Configuration/restart`` restarts it;
    ///   ``EngineError/Code/shutDown`` if the engine was shut down before, ``EngineError/Code/cancelled`` in a task that
    ///   is cancelled.
    public func waitForSourceEnd(
        of track: MediaTrackID = .video(.main)
    ) async throws(EngineError) {
        for await event in self {
            switch event {
            case .sourceEnded(track): return
            case .sourceFailed(track, let error): throw error
            default: break
            }
        }
        if Task.isCancelled { throw EngineError.cancelled("the wait for the end of the source") }
        throw EngineError.afterShutDown
    }
}
