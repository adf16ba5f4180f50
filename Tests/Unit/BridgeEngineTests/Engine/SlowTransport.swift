import BridgeEngine
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport

/// The loopback transport, whose answers a test can delay.
final class SlowTransport: ChannelTransport {
    let network = LoopbackNetwork()
    /// The engine has asked to join.
    let isAsked = Happening()
    /// Join requests are not answered before this.
    let answer = Happening()
    /// A member has left.
    let isLeft = Happening()
    /// With ``holdsOn``, leaving does not complete before this.
    let release = Happening()
    /// A member begins to leave. Only with ``holdsOn``.
    let isLeaving = Happening()
    /// Blocks the sender after its receivers have the frame.
    let sending: Hang?
    private let state = Mutex((holdsOn: false, receiver: (any ChannelReceiver)?.none))

    init(sending: Hang? = nil) { self.sending = sending }

    var holdsOn: Bool {
        get { state.withLock { $0.holdsOn } }
        set { state.withLock { $0.holdsOn = newValue } }
    }
    var receiver: (any ChannelReceiver)? { state.withLock { $0.receiver } }

    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        state.withLock { $0.receiver = receiver }
        isAsked.happen()
        await answer.wait()
        // Joining ignores cancellation: a cancelled request is still admitted.
        let member = await Task { [network] () -> Result<any ChannelMembership, EngineError> in
            do throws(EngineError) {
                return .success(try await network.join(request, receiver: receiver))
            } catch {
                return .failure(error)
            }
        }.value
        return Member(try member.get(), of: self)
    }

    private final class Member: ChannelMembership {
        let inner: any ChannelMembership
        let transport: SlowTransport

        init(_ inner: any ChannelMembership, of transport: SlowTransport) {
            (self.inner, self.transport) = (inner, transport)
        }

        func publish(
            _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
        ) -> any ChannelPublication {
            Publication(inner.publish(stream, feedback: feedback), of: transport)
        }
        func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {
            inner.setDemand(demand, track, of: user)
        }
        func requestKeyFrame(_ track: TrackID, of user: UserID) {
            inner.requestKeyFrame(track, of: user)
        }
        func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
            try await inner.send(message, to: user)
        }
        func leave() async {
            if transport.holdsOn {
                transport.isLeaving.happen()
                await transport.release.wait()
            }
            await inner.leave()
            transport.isLeft.happen()
        }
        var statistics: ChannelStatistics { inner.statistics }
    }
    private final class Publication: ChannelPublication {
        let inner: any ChannelPublication
        let transport: SlowTransport

        init(_ inner: any ChannelPublication, of transport: SlowTransport) {
            (self.inner, self.transport) = (inner, transport)
        }

        var carriesFrames: Bool { true }
        func send(_ media: consuming ChannelMedia) -> FrameDisposition {
            defer { transport.sending?.wait() }
            return inner.send(media)
        }
        func setMuted(_ isMuted: Bool) {}
        func end() { inner.end() }
    }
}
