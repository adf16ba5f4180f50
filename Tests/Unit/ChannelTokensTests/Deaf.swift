import BridgeEngine
import MediaCore

/// Hears nothing.
final class Deaf: ChannelReceiver {
    func userJoined(_ user: UserID) {}
    func userLeft(_ user: UserID, reason: OfflineReason) {}
    func trackPublished(_ track: TrackID, by user: UserID) {}
    func trackUnpublished(_ track: TrackID, by user: UserID) {}
    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID) {}
    func disconnected(_ error: EngineError) {}
}
