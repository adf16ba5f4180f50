internal import MediaCore

/// The properties that a source returned when it was queried.
struct SourceTraits: Sendable {
    var bufferType = VideoBufferType.pixelBuffer
    var captureType = VideoCaptureType.unknown
    var contentHint = VideoContentHint.none
    var pacing = MediaPacing.source
    var timeBase: MediaTimeBase?
}
