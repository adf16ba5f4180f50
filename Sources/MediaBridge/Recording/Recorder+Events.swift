extension Recorder {
    /// Notes whether a detector found its state at a moment of a stream: see ``Configuration/events``. Thread: any.
    ///
    /// - Parameters:
    ///   - begins: Whether an event begins there: it becomes a chapter of its file.
    ///   - time: The running time of the stream.
    ///   - live: The timing of a live stream.
    ///   - stream: The stream.
    func note(
        _ detector: String, isPresent: Bool, begins: Bool, at time: MediaTime,
        _ live: LiveTiming?, of stream: RecordedStream
    ) {
        guard configuration.events?.detectors.contains(detector) == true,
            let position = timeline.position(of: time, live, of: stream)
        else { return }
        let place = position + (tracks[stream]?.shift ?? .zero)
        inbox.put(.state(detector, isPresent: isPresent, begins: begins, at: place))
    }

    /// Notes that a detector finds nothing more. If it has failed, everything is recorded from here on: the recording
    /// of an event that is not detected cannot be repeated.
    func detectorEnded(_ detector: String, hasFailed: Bool) {
        guard configuration.events?.detectors.contains(detector) == true else { return }
        inbox.put(.stateEnded(detector, hasFailed: hasFailed))
    }
}
