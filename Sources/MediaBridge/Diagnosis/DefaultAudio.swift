/// gst-launch strings for the machine's default microphone and speakers.
public enum DefaultAudio {
    /// Returns a string for the microphone. Queries the machine's devices, which may take a second;
    /// call it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if there is no sound card.
    public static func microphone() throws(PipelineError) -> String {
        try require("Audio/Source", "microphone", "audiotestsrc produces a tone instead")
        return "autoaudiosrc ! audioconvert ! audioresample"
    }

    /// Returns a string for the speakers. Queries the machine's devices, which may take a second;
    /// call it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if there is no sound card.
    public static func speakers() throws(PipelineError) -> String {
        try require(
            "Audio/Sink", "loudspeaker", "write to a file or use enableExternalAudioSink instead")
        return "audioconvert ! audioresample ! autoaudiosink"
    }

    /// Throws if no such device exists: GStreamer's `auto…` elements would silently use a fake
    /// device.
    private static func require(
        _ klass: String, _ name: String, _ instead: String
    ) throws(PipelineError) {
        guard try Device.list(klass: klass).isEmpty else { return }
        throw PipelineError(
            .notFound,
            message: "no \(name): this machine has no sound card, or access to it is denied",
            advice: "gst-device-monitor-1.0 \(klass) lists the devices; \(instead)")
    }
}
