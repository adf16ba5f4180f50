extension MediaSample {
    /// The sample as a frame if it is raw audio, otherwise `nil`. Copies no bytes.
    var audioFrame: AudioFrame? {
        guard let audioLayout else { return nil }
        return AudioFrame(
            BufferAudioStorage(buffer.retained(), audioLayout), runningTime: runningTime,
            liveTiming: liveTiming)
    }
}
