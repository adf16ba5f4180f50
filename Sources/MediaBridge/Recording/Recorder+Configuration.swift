internal import MediaBasics

extension Recorder {
    /// How a recording is made; the defaults suit one film of pictures without sound.
    public struct Configuration: Sendable {
        /// `nil`: no pictures are recorded.
        public var video: VideoEncoding? = VideoEncoding()
        /// `nil`: no sound is recorded. A file waits with its beginning for the first sound, two seconds
        /// at most where the streams are live.
        public var audio: AudioEncoding?
        /// Keeps so much in memory, encoded, from the first frame on, and begins the file with it. A minimum:
        /// a file begins with a key frame, so that up to ``VideoEncoding/keyFrameInterval`` more comes with
        /// it; less only where less was handed over. `nil`: the file begins with the first frame after
        /// ``Recorder/start()``.
        public var preRoll: Duration?
        /// `nil`: one file, and a new one only where the pictures' size or format changes.
        public var segments: RecordingSegments?
        /// What a writer meets when the encoder, or the disk behind it, is slow. Default
        /// ``PipelineVideoSink/WhenFull/automatic``: the oldest frame of a live capture gives way, and
        /// counts; any other writer waits.
        public var whenFull = PipelineVideoSink.WhenFull.automatic
        /// How long ``Recorder/stop()`` waits without anything being written before it says that the disk
        /// is stuck. Default 10 s.
        public var patience = Duration.seconds(10).asDefaultDeadline
        /// Ends the recording when the disk has fewer bytes than this left, and what the file's index
        /// needs; 0: never. Default 4 MB.
        public var reserve = 4_000_000

        public init() {}
    }
}
