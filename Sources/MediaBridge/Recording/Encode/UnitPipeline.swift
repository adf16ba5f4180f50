/// The pipeline that makes a stream's units, and what to know of it.
struct UnitPipeline: Sendable {
    /// The complete string, from an appsrc to an appsink named units.
    let text: String
    /// The codec's name, for reports: `h264`.
    let codec: String
    /// The encoder's factory name, for reports; `copy` for units that are recorded as they came.
    let element: String
    /// The longest time between two key frames that the encoder is asked for; `nil` without one.
    let keyFrameInterval: MediaTime?
    /// See ``AudioEncoderElement/hiddenDelay``.
    let hiddenDelay: Int
    /// Whether the units are recorded as they came.
    let isCopy: Bool
    /// See ``RecorderReport/Track/converted``.
    var converted: String?
}
