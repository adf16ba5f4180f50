/// A simulated camera and microphone, made of elements without hardware.
struct Camera: Sendable {
    /// Frames until the end; negative: no end.
    var frames = -1
    /// Video frames until the end of the video; negative: the same as `frames`.
    var pictures = -1
    var pattern = "ball"
    /// Frames per second.
    var rate = 30
    /// The frame after which the camera fails; 0: never.
    var failsAfter = 0
    var hasSound = true
    /// The number of audio tracks, with audio.
    var soundTracks = 1
    /// The delay of audio behind video, in milliseconds.
    var soundDelay = 0
    /// The port for audio from a ``Sender`` instead of the microphone; 0: none.
    var soundPort = 0
    /// The port for H.264 from a ``Sender`` instead of the camera, to be copied; 0: none.
    var picturePort = 0
    /// Bits per second; 0: the encoder's default quality.
    var bitrate = 0

    /// The capture string: raw, or encoded with codecs that the container supports.
    func capture(for subject: Subject) -> String {
        let tracks = (0..<(hasSound ? soundTracks : 0)).map { " \(sound(for: subject, track: $0))" }
        return pictures(for: subject) + tracks.joined()
    }

    private func pictures(for subject: Subject) -> String {
        guard picturePort == 0 else {
            return Sender.pictures.capture(at: picturePort) + " ! appsink name=video"
        }
        return "videotestsrc is-live=true pattern=\(pattern) "
            + "num-buffers=\(pictures < 0 ? frames : pictures) "
            + "! video/x-raw,format=I420,width=320,height=240,framerate=\(rate)/1 "
            + (failsAfter > 0 ? "! identity error-after=\(failsAfter) " : "")
            + (subject.isCopy ? "! \(pictureEncoder(for: subject)) " : "") + "! appsink name=video"
    }

    private func sound(for subject: Subject, track: Int) -> String {
        let source =
            soundPort > 0
            ? Sender.sound.capture(at: soundPort)
            : "audiotestsrc is-live=true samplesperbuffer=960 "
                + "num-buffers=\(frames < 0 ? -1 : frames * 50 / rate)"
        return source + " ! audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved "
            + (soundDelay > 0 ? "! queue min-threshold-time=\(soundDelay * 1_000_000) " : "")
            + (subject.isCopy ? "! \(soundEncoder(for: subject)) " : "")
            + "! appsink name=audio\(track == 0 ? "" : "\(track + 1)")"
    }

    /// A keyframe every second, without encoder delay: each frame is output before the next one
    /// arrives.
    private func pictureEncoder(for subject: Subject) -> String {
        guard subject.container == "webm" else {
            return "x264enc tune=zerolatency speed-preset=superfast key-int-max=\(rate) "
                + (bitrate > 0 ? "pass=cbr bitrate=\(bitrate / 1000)" : "pass=qual quantizer=22")
                + " ! h264parse"
        }
        return "vp8enc deadline=1 cpu-used=8 threads=1 keyframe-max-dist=\(rate)"
            + (bitrate > 0 ? " target-bitrate=\(bitrate)" : "")
    }

    private func soundEncoder(for subject: Subject) -> String {
        ["mkv", "webm"].contains(subject.container)
            ? "opusenc" : "audioconvert ! avenc_aac ! aacparse"
    }
}

/// The recorded media, and the container.
struct Subject: Sendable {
    var container: String
    /// Whether the source is encoded and recorded without re-encoding; otherwise it is raw and is
    /// encoded.
    var isCopy = false

    static let all = kinds.flatMap { isCopy in
        FaultSuite.containers.map { Subject(container: $0, isCopy: isCopy) }
    }

    /// Values of `isCopy`, for promises that are tested with both.
    static let kinds = [false, true]

    /// The name for promises.
    var name: String { Self.name(container, isCopy) }
    /// The title for the table.
    var title: String { Self.title(container, isCopy) }

    static func name(_ name: String, _ isCopy: Bool) -> String { isCopy ? "\(name)-copy" : name }

    static func title(_ title: String, _ isCopy: Bool) -> String {
        isCopy ? "\(title), copied" : title
    }
}

extension VictimOrder {
    /// Records a camera.
    init(_ camera: Camera, as subject: Subject, into path: String) {
        self.init(path: path)
        record(camera, as: subject)
    }

    mutating func record(_ camera: Camera, as subject: Subject) {
        capture = camera.capture(for: subject)
        isCopy = subject.isCopy
        hasSound = camera.hasSound
        bitrate = camera.bitrate
    }
}
