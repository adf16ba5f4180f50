import Foundation
import MediaBridgeAgora
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

/// Calls of several threads that mute a local stream and send it again.
@Suite(.hangGuard)
struct MutingTests {
    /// A channel that records which streams are muted.
    private final class Room: ChannelTransport, ChannelMembership {
        private let muted = Mutex<[MediaTrackID: Bool]>([:])

        var statistics: ChannelStatistics { ChannelStatistics() }

        func join(
            _ request: ChannelRequest, receiver: any ChannelReceiver
        ) async throws(EngineError) -> any ChannelMembership { self }
        func publish(
            _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
        ) -> any ChannelPublication { Publication(stream, in: self) }
        func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {}
        func requestKeyFrame(_ track: TrackID, of user: UserID) {}
        func send(_ message: ChannelMessage, to user: UserID?) {}
        func leave() async {}

        func isMuted(_ stream: MediaTrackID) -> Bool { muted.withLock { $0[stream] == true } }

        func setMuted(_ isMuted: Bool, _ stream: MediaTrackID) {
            // Muting takes longer, so that a call that sends the stream again could overtake it.
            for _ in 0..<1000 where isMuted { sched_yield() }
            muted.withLock { $0[stream] = isMuted }
        }
    }
    private final class Publication: ChannelPublication {
        private let stream: MediaTrackID
        private let room: Room

        init(_ stream: MediaTrackID, in room: Room) { (self.stream, self.room) = (stream, room) }

        var carriesFrames: Bool { true }
        func send(_ media: consuming ChannelMedia) -> FrameDisposition { .accepted }
        func setMuted(_ isMuted: Bool) { room.setMuted(isMuted, stream) }
        func end() {}
    }

    @Test func latestOfTwoCallsAtOnceIsApplied() async throws {
        let room = Room()
        let engine = makeEngine(transport: room)
        try await engine.setVideoSource(ScriptedSource(SourceScript()))
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await engine.joinChannel("room", userID: "anna")
        for _ in 0..<100 {
            await withTaskGroup { group in
                for isMuted in [true, false] {
                    group.addTask {
                        engine.muteLocalVideo(isMuted)
                        engine.muteLocalAudio(isMuted)
                    }
                }
            }
            #expect(room.isMuted(.video(.main)) == engine.isLocalVideoMuted(.main))
            #expect(room.isMuted(.audio) == engine.isLocalAudioMuted)
        }
        await engine.shutDown()
    }
}
