package import BridgeEngine
package import MediaCore

// What most tests leave out of the contract of channels.

extension ChannelReceiver {
    package func handle(_ event: MembershipEvent) {}
    package func receive(
        _ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID
    ) {}
    package func token(for reason: TokenReason) async throws(EngineError) -> String? { nil }
}

extension PublicationFeedback {
    package func keyFrameNeeded() {}
    package func limitChanged(_ limit: VideoLimit) {}
    package func codecsChanged() -> Bool { false }
    package func stateChanged(_ state: PublicationState) {}
}

extension ChannelMembership {
    package func publish(
        _ track: TrackID, feedback: any PublicationFeedback
    ) -> any ChannelPublication {
        publish(.video(track), feedback: feedback)
    }

    package func publishAudio() -> any ChannelPublication { publish(.audio, feedback: nil) }
}

extension ChannelPublication {
    @discardableResult
    package func send(_ frame: VideoFrame) -> FrameDisposition { send(.picture(frame)) }
    @discardableResult
    package func send(_ unit: EncodedVideoFrame) -> FrameDisposition { send(.unit(unit)) }
    @discardableResult
    package func send(_ frame: AudioFrame) -> FrameDisposition { send(.samples(frame)) }
    @discardableResult
    package func send(_ unit: EncodedAudioFrame) -> FrameDisposition { send(.audioUnit(unit)) }
}
