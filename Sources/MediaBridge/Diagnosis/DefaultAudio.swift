/// The microphone and the speakers of the machine, as gst-launch strings.
public enum DefaultAudio {
    /// A string for the microphone. Looks at the machine: may take a second; call it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` where there is no sound card.
    public static func microphone() throws(PipelineError) -> String {
        try require("Audio/Source", "microphone", "audiotestsrc gives a tone instead")
        return "autoaudiosrc ! audioconvert ! audioresample"
    }

    /// A string for the speakers. Looks at the machine: may take a second; call it in the control zone.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` where there is no sound card.
    public static func speakers() throws(PipelineError) -> String {
        try require("Audio/Sink", "loudspeaker", "a file, or enableExternalAudioSink, instead")
        return "audioconvert ! audioresample ! autoaudiosink"
    }

    /// GStreamer's `auto…` elements take something silent instead, and tell nobody.
    private static func require(
        _ klass: String, _ name: String, _ instead: String
    ) throws(PipelineError) {
        guard try Device.list(klass: klass).isEmpty else { return }
        throw PipelineError(
            .notFound, message: "no \(name): this machine has no sound card, or nobody may use it",
            advice: "gst-device-monitor-1.0 \(klass) lists what there is; \(instead)")
    }
}
