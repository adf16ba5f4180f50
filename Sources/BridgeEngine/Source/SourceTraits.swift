internal import MediaCore

/// What a source said of itself when it was asked.
struct SourceTraits: Sendable {
    var bufferType = VideoBufferType.pixelBuffer
    var captureType = VideoCaptureType.unknown
    var pacing = MediaPacing.source
    var timeBase: MediaTimeBase?
}
