public import MediaCore

/// What happens in an engine that the program may want to know.
public enum EngineEvent: Sendable {
    /// The state of the local video: capturing, or not.
    case localVideoState(LocalVideoState)
    /// The first frame of a local track since it began to run.
    case firstLocalFrame(TrackID, VideoSize)
    /// Another source delivers from here on.
    case sourceSwitched
    /// The source has nothing more to deliver: the end of a file.
    case sourceEnded
    /// The source cannot go on, or could not be stopped.
    case sourceFailed(EngineError)
    /// No frame came for this long.
    case sourceStalled(Duration)
    /// Frames come again.
    case sourceResumed
    /// The source is started again; the attempt's number, from 1.
    case sourceRestarting(attempt: Int)
    /// An encoded unit that was pushed to this track was refused, and so is every one that builds on it:
    /// let the encoder make a key frame.
    case keyFrameNeeded(TrackID)

    /// A renderer failed. It gets no more frames where it could not start, and goes on where one frame
    /// failed.
    case rendererFailed(RendererID, EngineError)
    /// A renderer has been busy with one frame for too long; others are not.
    case rendererStalled(RendererID)
    /// A renderer takes frames again.
    case rendererResumed(RendererID)
    /// A processor threw or is too slow. It is passed over where it does so again and again.
    case processorFailed(ProcessingPoint, EngineError)

    /// In a channel.
    case joined(channel: String, as: UserID)
    /// Out of it, by the program's own wish.
    case left(channel: String)
    /// The channel is gone.
    case disconnected(EngineError)
    case userJoined(UserID)
    case userOffline(UserID, OfflineReason)
    case trackPublished(TrackID, by: UserID)
    case trackUnpublished(TrackID, by: UserID)
    /// The first frame of a user's track since it was published.
    case firstRemoteFrame(UserID, TrackID, VideoSize)

    /// The state of the local sound.
    case localAudioState(LocalAudioState)
    /// The first local sound since its source began to run.
    case firstLocalAudio(AudioFormat)
    /// The source of sound has nothing more to deliver.
    case audioSourceEnded
    /// The source of sound cannot go on, or could not be started: no sound card, say. Pictures go on.
    case audioSourceFailed(EngineError)
    /// No sound came for this long. There is none to be heard meanwhile.
    case audioSourceStalled(Duration)
    /// Sound comes again.
    case audioSourceResumed
    /// Samples were missing, or came twice. Told once a second at most; the statistics count all.
    case audioCorrected(AudioContinuity.Correction)
    /// A processor of sound threw.
    case audioProcessorFailed(EngineError)
    /// A sink of sound failed. It gets no more where it could not start, and goes on where one frame failed.
    case audioSinkFailed(AudioSinkID, EngineError)
    /// A sink of sound has been busy with one frame for too long; others are not.
    case audioSinkStalled(AudioSinkID)
    /// A sink of sound takes frames again.
    case audioSinkResumed(AudioSinkID)
    case audioPublished(by: UserID)
    case audioUnpublished(by: UserID)
    /// The first of a user's sound since it was published.
    case firstRemoteAudio(UserID, AudioFormat)
    /// A user's sound cannot be mixed.
    case playbackFailed(EngineError)

    /// Every two seconds while something runs.
    case statistics(EngineStatistics)
    /// Something that was asked for has no effect, and why.
    case warning(String)
}

/// What the local video does.
public enum LocalVideoState: String, Sendable {
    case stopped, capturing, failed
}

/// What the local sound does.
public enum LocalAudioState: String, Sendable {
    case stopped, capturing, failed
}

/// The place of a sink of sound in an engine.
public struct AudioSinkID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    public var description: String { "audio sink \(number)" }
}

/// A renderer's place in an engine.
public struct RendererID: Hashable, Sendable, CustomStringConvertible {
    let number: Int
    public var description: String { "renderer \(number)" }
}

/// Where processors work.
public enum ProcessingPoint: String, Sendable, CaseIterable {
    /// After the source: everything behind sees the result.
    case capture
    /// Before the channel alone.
    case encode
    /// Before local renderers alone.
    case render
}
