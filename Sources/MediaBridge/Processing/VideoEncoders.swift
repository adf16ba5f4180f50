// How the elements that encode pictures are set up.

/// What an encoder of pictures is set up for.
struct VideoEncoderSetup {
    /// In bits per second.
    var bitRate: Int
    /// Whether it was requested.
    var hasBitRate = false
    /// What is lost instead, with an encoder that can keep that constant; `nil`: the bit rate counts.
    var quality: VideoQuality?
    /// The encoder's number for the quality.
    var quantizer: Int?
    /// In frames per second.
    var frameRate: Double
    /// The longest time between two key frames.
    var keyFrameInterval: MediaTime
    /// Whether a network carries the units: it needs a constant bit rate.
    var isForNetwork = false
    /// Whether sharp pictures matter more than many.
    var wantsSharpness = false
    /// The number of the parameter sets of H.264; `nil`: the encoder's default. Only x264enc takes it.
    var parameterSet: Int?

    /// For x264enc. Pictures of screens hardly change: more analysis costs little there, and keeps edges sharp.
    fileprivate var preset: String { wantsSharpness ? "veryfast" : "superfast" }

    /// The most frames between two key frames. They are requested by time; this limit is for an encoder that
    /// ignores the requests.
    fileprivate var longestGroup: Int { group(2 * keyFrameInterval.seconds) }

    /// The number of frames between two key frames at the stated frame rate, for an encoder that ignores all requests.
    fileprivate var usualGroup: Int { group(keyFrameInterval.seconds) }

    private func group(_ seconds: Double) -> Int {
        Int(min(max(1, seconds * frameRate), 1e6).rounded(.up))
    }
}

/// The property that takes the bit rate of an encoder.
struct BitRateProperty {
    var name = "bitrate"
    /// The bits per second of its unit.
    var unit = 1000
    /// In its unit.
    var lowest = 1
    /// Precedes the number.
    var prefix = ""
}

/// An element that encodes pictures, and how it is set up: a row for each.
struct VideoEncoderElement: EncoderElement {
    let factoryName: String
    let codec: VideoCodec
    var isForRecordings: Bool { true }
    var isForNetworks = false
    var isHardware = false
    /// `nil` if the quality is constant, or nothing is lost.
    var rate: BitRateProperty?
    /// Its numbers for qualities. Without that of lossless, pictures lose something; without any, the bit rate depends
    /// on the quality. Measured with ssim of ffmpeg.
    var quantizers: [VideoQuality: Int] = [:]
    /// Whether a quality is constant unless a bit rate is requested.
    var prefersQuality = false
    /// The pixel formats that it gets. Every player shows 8 bits and 4:2:0, to which cameras and screens are
    /// converted.
    var formats = ["I420"]
    /// The pixel formats for pictures with more than 8 bits, which then keep their chroma subsampling; `nil`: those
    /// for all others.
    var deepFormats: [String]?
    /// The shortest side of a picture that it takes, in pixels.
    var leastSide = 2
    /// Whether it takes odd sizes. Any other loses the last row or column, and gets small pictures scaled.
    var keepsOddSizes = false
    /// Returns its other properties, as in a pipeline string.
    ///
    /// - Parameter rate: The property of the bit rate with its value.
    let properties: @Sendable (_ setup: VideoEncoderSetup, _ rate: String) -> String

    /// All of them; those of one codec in the order of preference.
    static let table = software + hardware

    private static let software = [
        VideoEncoderElement(
            factoryName: "x264enc", codec: .h264, isForNetworks: true, rate: .init(),
            quantizers: [.low: 30, .medium: 26, .high: 22, .lossless: 0], prefersQuality: true,
            deepFormats: tenBits
        ) { setup, rate in
            // A buffer of half a second keeps a key frame from taking a second to be sent.
            let quality =
                setup.quantizer.map { "pass=\($0 == 0 ? "quant" : "qual") quantizer=\($0)" }
                ?? "pass=cbr \(rate)" + (setup.isForNetwork ? " vbv-buf-capacity=500" : "")
            // Scene cuts need no key frames. Their key frames would also shift the segment boundaries.
            let set = setup.parameterSet.map { ":sps-id=\($0)" } ?? ""
            return "tune=zerolatency speed-preset=\(setup.preset) "
                + "option-string=scenecut=0\(set) key-int-max=\(setup.longestGroup) \(quality)"
        },
        VideoEncoderElement(
            factoryName: "openh264enc", codec: .h264, isForNetworks: true,
            rate: .init(unit: 1, lowest: 1000)
        ) { setup, rate in
            let usage = setup.wantsSharpness ? "screen" : "camera"
            return "gop-size=\(setup.longestGroup) \(rate) rate-control=bitrate usage-type=\(usage)"
        },
        VideoEncoderElement(
            factoryName: "x265enc", codec: .h265, rate: .init(),
            quantizers: [.low: 30, .medium: 25, .high: 20, .lossless: 0], prefersQuality: true,
            deepFormats: tenBits, leastSide: 16
        ) { setup, rate in
            // A key frame of an open group shows pictures before it, without which no file may begin.
            let quality =
                setup.quantizer.map { $0 == 0 ? ":lossless=1" : ":crf=\($0)" } ?? ""
            return "tune=zerolatency speed-preset=ultrafast log-level=error "
                + "option-string=scenecut=0:open-gop=0:bframes=0\(quality) "
                + "key-int-max=\(setup.longestGroup)" + (setup.quantizer == nil ? " \(rate)" : "")
        },
        libvpx(
            "vp8enc", .vp8, isForNetworks: true, [.low: 31, .medium: 19, .high: 11],
            threads: "threads=1"),
        libvpx(
            "vp9enc", .vp9, [.low: 31, .medium: 24, .high: 14, .lossless: 0],
            deepFormats: tenBits, threads: "threads=2 row-mt=true"),
        VideoEncoderElement(
            factoryName: "av1enc", codec: .av1, rate: .init(name: "target-bitrate"),
            quantizers: [.low: 31, .medium: 22, .high: 14], leastSide: 4
        ) { setup, rate in
            let control =
                setup.quantizer.map { "end-usage=q min-quantizer=\($0) max-quantizer=\($0)" }
                ?? "end-usage=vbr \(rate)"
            return "usage-profile=realtime cpu-used=8 lag-in-frames=0 "
                + "keyframe-max-dist=\(setup.usualGroup) \(control) threads=2 row-mt=true"
        },
        VideoEncoderElement(
            factoryName: "jpegenc", codec: .mjpeg,
            quantizers: [.low: 60, .medium: 75, .high: 90], prefersQuality: true,
            formats: ["I420", "Y42B", "Y444", "GRAY8"], leastSide: 1, keepsOddSizes: true
        ) { setup, _ in "quality=\(setup.quantizer ?? 90)" },
        // 4444 for RGB and 4:4:4, which has one profile.
        VideoEncoderElement(
            factoryName: "avenc_prores_ks", codec: .prores,
            formats: ["I422_10LE", "Y444_10LE", "A444_10LE"], leastSide: 16
        ) { _, _ in "vendor=apl0" },
        VideoEncoderElement(
            factoryName: "avenc_ffv1", codec: .ffv1, quantizers: [.lossless: 0],
            formats: [
                "I420", "Y42B", "Y41B", "YUV9", "Y444", "A420", "BGRx", "BGRA", "GRAY8",
                "GRAY16_LE",
                "I420_10LE", "I422_10LE", "Y444_10LE", "A420_10LE", "A422_10LE", "A444_10LE",
                "I420_12LE", "I422_12LE", "Y444_12LE", "GBR_10LE", "GBRA_10LE", "GBR_12LE",
                "GBRA_12LE",
            ], leastSide: 4, keepsOddSizes: true
        ) { _, _ in "gop-size=1" },
    ]

    /// Sources of the properties: sys/va, sys/nvcodec and sys/qsv of gst-plugins-bad, sys/v4l2 of gst-plugins-good.
    /// Never tried with hardware.
    private static let hardware = [
        chip("vah264enc", .h264, "b-frames=0 rate-control=cbr", group: "key-int-max"),
        chip("nvh264enc", .h264, lowDelay, group: "gop-size"),
        chip("qsvh264enc", .h264, "b-frames=0 low-latency=true", group: "gop-size"),
        // The Raspberry Pi 4 takes pictures of 1920x1080 only at a stated level.
        VideoEncoderElement(
            factoryName: "v4l2h264enc", codec: .h264, isForNetworks: true, isHardware: true,
            rate: .init(
                name: "extra-controls", unit: 1, lowest: 25_000, prefix: "controls,video_bitrate="),
            formats: ["NV12"], leastSide: 32
        ) { setup, rate in
            "\(rate),repeat_sequence_header=1,h264_i_frame_period=\(setup.longestGroup) "
                + "! video/x-h264,level=(string)4"
        },
        chip(
            "vah265enc", .h265, "b-frames=0 rate-control=cbr", group: "key-int-max", ["P010_10LE"]),
        chip("nvh265enc", .h265, lowDelay, group: "gop-size", ["P010_10LE"]),
        chip("qsvh265enc", .h265, "b-frames=0 low-latency=true", group: "gop-size", ["P010_10LE"]),
        chip("vavp9enc", .vp9, "rate-control=cbr", group: "key-int-max"),
        chip("qsvvp9enc", .vp9, "low-latency=true", group: "gop-size"),
        chip("vaav1enc", .av1, "rate-control=cbr", group: "key-int-max"),
        chip("nvav1enc", .av1, lowDelay, group: "gop-size"),
        chip("qsvav1enc", .av1, "low-latency=true", group: "gop-size"),
    ]

    /// For NVIDIA's, whose properties had other names up to 1.26.
    private static let lowDelay =
        "bframes=0 b-frames=0 zerolatency=true zero-reorder-delay=true rc-mode=cbr rate-control=cbr"

    /// - Parameters:
    ///   - options: Properties, of which those are set that the installed version has.
    ///   - group: The property of the most frames between two key frames.
    private static func chip(
        _ name: String, _ codec: VideoCodec, _ options: String, group: String,
        _ deepFormats: [String]? = nil
    ) -> VideoEncoderElement {
        VideoEncoderElement(
            factoryName: name, codec: codec, isForNetworks: codec == .h264, isHardware: true,
            rate: .init(),
            formats: ["NV12"], deepFormats: deepFormats, leastSide: 160
        ) { setup, rate in
            let all = "\(options) \(group)=\(setup.longestGroup) \(rate)"
            return Element.known(all, of: name)
        }
    }

    private static let tenBits = ["I420_10LE", "I422_10LE", "Y444_10LE"]

    /// The VP8 threads of libvpx wait for each other in busy loops. Unless each thread has its own core, two threads
    /// take many times the CPU time of one, and the encoder falls behind.
    private static func libvpx(
        _ name: String, _ codec: VideoCodec, isForNetworks: Bool = false,
        _ quantizers: [VideoQuality: Int], deepFormats: [String]? = nil, threads: String
    ) -> VideoEncoderElement {
        VideoEncoderElement(
            factoryName: name, codec: codec, isForNetworks: isForNetworks,
            rate: .init(name: "target-bitrate", unit: 1, lowest: 1000), quantizers: quantizers,
            deepFormats: deepFormats
        ) { setup, rate in
            let control =
                setup.isForNetwork
                ? "end-usage=cbr buffer-size=1000 buffer-initial-size=500 buffer-optimal-size=600 "
                    + "error-resilient=default"
                : "end-usage=vbr"
                    + (setup.quantizer.map { " min-quantizer=\($0) max-quantizer=\($0)" } ?? "")
            let screen = setup.wantsSharpness ? " sharpness=2 static-threshold=100" : ""
            // Timestamps are the frames' own, not computed from the frame rate of the first caps.
            return "timebase=1/90000 deadline=1 cpu-used=8 lag-in-frames=0 auto-alt-ref=false "
                + "keyframe-max-dist=\(setup.longestGroup) \(control) \(rate) \(threads)\(screen)"
        }
    }

    // MARK: Settings

    var hasBitRate: Bool { rate != nil }

    /// Returns the property of a bit rate, and its value; `nil` if the quality is constant, or nothing is lost.
    ///
    /// - Parameter bits: In bits per second.
    func bitRate(_ bits: Int) -> (property: String, value: String)? {
        rate.map { ($0.name, "\($0.prefix)\(max($0.lowest, bits / $0.unit))") }
    }

    /// Returns the encoder with its properties, as part of a pipeline string.
    ///
    /// - Parameter name: The name of the element; `nil` for none.
    func text(_ setup: VideoEncoderSetup, name: String? = nil) -> String {
        var setup = setup
        let usual = prefersQuality ? VideoQuality.high : nil
        setup.quantizer =
            setup.isForNetwork || setup.hasBitRate
            ? nil : (setup.quality ?? usual).flatMap { quantizers[$0] }
        let rate = bitRate(setup.bitRate).map { "\($0.property)=\($0.value)" } ?? ""
        return "\(factoryName)\(name.map { " name=\($0)" } ?? "") \(properties(setup, rate))"
    }

    // MARK: Pictures in front of the encoder

    /// The pixel format that the encoder gets: the one that loses least, of the formats that each element takes.
    private func format(_ info: VideoInfo, _ rotation: VideoRotation) -> String {
        let elements = [factoryName] + (rotation == .upright ? [] : ["videoflip"])
        let factories = elements.compactMap { (try? ElementFactory.find($0)) ?? nil }
        let offered = info.precision.bits > 8 ? deepFormats ?? formats : formats
        let taken = offered.filter { format in
            guard let caps = try? Caps("video/x-raw,format=\(format)") else { return false }
            return factories.allSatisfy { $0.canTake(caps) }
        }
        return info.precision.nearest(among: taken) ?? "I420"
    }

    /// What the conversion for the encoder loses; `nil` if it loses nothing.
    func conversion(of info: VideoInfo?, _ rotation: VideoRotation) -> String? {
        guard let info, case let format = format(info, rotation),
            let stored = try? VideoInfo(format: format, width: 2, height: 2),
            info.precision.exceeds(stored.precision)
        else { return nil }
        return "\(info.format) as \(format)"
    }

    /// Returns the elements that convert pictures for the encoder.
    func picture(_ info: VideoInfo?, _ rotation: VideoRotation) -> String {
        // Dithering changes samples even if they only move to other bits.
        let dither =
            info != nil && conversion(of: info, rotation) == nil ? " dither=none" : ""
        let stored = info.map { format($0, rotation) } ?? formats[0]
        let convert = "videoconvert\(dither) ! video/x-raw,format=\(stored)\(upload)"
        return (info.map { even($0) } ?? "") + convert
    }

    /// The elements that move pictures into the only memory that the encoder takes; empty if it takes the system's.
    private var upload: String {
        guard isHardware, let factory = (try? ElementFactory.find(factoryName)) ?? nil,
            let system = try? Caps("video/x-raw,format=\(formats[0])"), !factory.canTake(system)
        else { return "" }
        let converters = [
            "VAMemory": "vapostproc", "CUDAMemory": "cudaupload", "GLMemory": "glupload",
            "DMABuf": "v4l2convert",
        ]
        let memory = converters.keys.sorted().first {
            (try? Caps("video/x-raw(memory:\($0))")).map { factory.canTake($0) } ?? false
        }
        return memory.map { " ! \(converters[$0] ?? "") ! video/x-raw(memory:\($0))" } ?? ""
    }

    /// 4:2:0 needs an even width and height: cuts off the last column or row, and scales what is smaller than
    /// the encoder takes.
    private func even(_ info: VideoInfo) -> String {
        guard !keepsOddSizes else { return "" }
        let (right, bottom) = (info.width % 2, info.height % 2)
        guard info.width >= leastSide, info.height >= leastSide else {
            let width = max(leastSide, info.width - right)
            let height = max(leastSide, info.height - bottom)
            return "videoscale add-borders=false ! video/x-raw,width=\(width),height=\(height),"
                + "pixel-aspect-ratio=1/1 ! "
        }
        return (right, bottom) == (0, 0)
            ? "" : "videocrop right=\(right) bottom=\(bottom) ! "
    }
}
