extension EncodedVideoFrame {
    /// Creates an encoded frame of a capture.
    init(_ sample: MediaSample, rotation: VideoRotation) {
        let times = sample.times
        self.init(
            VideoCodec(mediaType: sample.caps.mediaType), sample, runningTime: times.running,
            decodingTime: times.decoding, duration: times.duration, rotation: rotation,
            liveTiming: times.live)
    }

    /// Returns the frame as a sample: see ``MediaSample/of(_:_:isDelta:caps:)``.
    ///
    /// - Parameter saysSize: Whether the caps of a frame of the program's say the size in its bytes,
    ///   which a muxer needs and a decoder does not.
    func sample(saysSize: Bool = true) throws(PipelineError) -> MediaSample {
        let times = MediaSample.Times(
            running: runningTime, decoding: decodingTime, duration: duration, live: liveTiming)
        return try MediaSample.of(storage, times, isDelta: !isKeyFrame) {
            () throws(PipelineError) in
            try codec.caps(codecData: codecData, size: saysSize ? writtenSize : nil)
        }
    }

    /// Returns the frame's buffer and caps, for an appsrc.
    package borrowing func wrapped() throws(PipelineError) -> ElementChain.BufferWithCaps {
        try sample().output
    }

    /// Creates an encoded frame from a buffer of a live pipeline. No byte is copied.
    package init(
        _ buffer: consuming Buffer, caps: Caps, runningTime: MediaTime, liveTiming: LiveTiming
    ) {
        let sample = MediaSample(
            buffer, caps: caps, runningTime: runningTime, liveTiming: liveTiming)
        self.init(sample, rotation: .upright)
        decodingTime = nil
    }
}

extension EncodedAudioFrame {
    /// Creates an encoded frame of a capture.
    init(_ sample: MediaSample) {
        let (format, times) = (sample.caps.soundFormat, sample.times)
        self.init(
            AudioCodec(sample.caps), sample, runningTime: times.running, duration: times.duration,
            sampleRate: format.rate, channels: format.channels, liveTiming: times.live)
    }

    /// Returns the frame as a sample: see ``MediaSample/of(_:_:isDelta:caps:)``.
    func sample() throws(PipelineError) -> MediaSample {
        // Sound is decoded in the order in which it is heard: the time says nothing new.
        let own = (storage as? MediaSample)?.times
        let decoding = own?.running == runningTime ? own?.decoding : nil
        let times = MediaSample.Times(
            running: runningTime, decoding: decoding, duration: duration, live: liveTiming)
        return try MediaSample.of(storage, times) { () throws(PipelineError) in
            try codec.caps(
                codecData: codecData, sampleRate: sampleRate, channels: channels)
        }
    }

    /// Returns the frame's buffer and caps, for an appsrc.
    package borrowing func wrapped() throws(PipelineError) -> ElementChain.BufferWithCaps {
        try sample().output
    }

    /// Creates an encoded frame from a buffer of a live pipeline. No byte is copied.
    package init(
        _ buffer: consuming Buffer, caps: Caps, runningTime: MediaTime, liveTiming: LiveTiming
    ) {
        self.init(
            MediaSample(buffer, caps: caps, runningTime: runningTime, liveTiming: liveTiming))
    }
}

// MARK: Content

extension EncodedVideoFrame {
    /// What the first bytes of a frame announce.
    enum Content {
        case picture
        /// Valid but without visible output: only parameter sets, or a picture that is only a
        /// reference for others.
        case hidden
        /// Not data of the codec.
        case garbage
    }

    /// Inspects the start of the frame; the cost is negligible compared with decoding.
    var content: Content {
        (try? withUnsafeBytes { bytes in
            switch codec {
            case .h264: nalContent(bytes) { (1...5).contains($0 & 0x1f) }
            case .h265: nalContent(bytes) { ($0 >> 1 & 0x3f) < 32 }
            case .vp8: Self.vp8Content(bytes)
            case .vp9: Self.vp9Content(bytes)
            case .av1: Self.av1Content(bytes)
            // A damaged size may make the decoder allocate gigabytes.
            case .mjpeg: Self.jpegSize(bytes)?.isValid == true ? .picture : .garbage
            default: bytes.isEmpty ? .garbage : .picture
            }
        }) ?? .garbage
    }

    /// The size stated in the bytes of a VP8 key frame or a JPEG picture, which are muxed without a
    /// GStreamer parser; `nil` for anything else.
    var writtenSize: VideoSize? {
        (try? withUnsafeBytes { bytes -> VideoSize? in
            switch codec {
            case .vp8 where isKeyFrame && bytes.count >= 10:
                VideoSize(
                    width: Int(bytes[6]) | Int(bytes[7] & 0x3f) << 8,
                    height: Int(bytes[8]) | Int(bytes[9] & 0x3f) << 8)
            case .mjpeg: Self.jpegSize(bytes)
            default: nil
            }
        }) ?? nil
    }

    /// Searches the NAL units for the first slice.
    ///
    /// - Parameter isSlice: Whether the first byte of a header is that of a slice.
    private func nalContent(
        _ bytes: UnsafeRawBufferPointer, isSlice: (UInt8) -> Bool
    ) -> Content {
        let units = NetworkUnits(bytes, of: codec, codecData: codecData)
        guard units.beginsWithUnit else { return .garbage }
        for header in units {
            // `forbidden_zero_bit`, which is zero in every NAL unit.
            guard bytes[header] & 0x80 == 0 else { return .garbage }
            if isSlice(bytes[header]) { return .picture }
        }
        return .hidden
    }

    /// Reads the frame tag of three bytes, and the start code that follows it in a key frame.
    private static func vp8Content(_ bytes: UnsafeRawBufferPointer) -> Content {
        guard bytes.count > 3 else { return .garbage }
        let isKey = bytes[0] & 1 == 0
        let version = bytes[0] >> 1 & 7
        let isShown = bytes[0] >> 4 & 1 == 1
        let firstPart = (Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16) >> 5
        let header = isKey ? 10 : 3
        guard version <= 3, firstPart > 0, firstPart <= bytes.count - header else {
            return .garbage
        }
        if isKey, bytes[3] != 0x9d || bytes[4] != 0x01 || bytes[5] != 0x2a { return .garbage }
        return isShown ? .picture : .hidden
    }

    /// Reads the first byte of the first frame's header, the start code of a key frame, and whether
    /// other frames follow (VP9 bitstream specification, 6.2 and annex B). Profile 3 has its bits
    /// elsewhere and is not checked.
    private static func vp9Content(_ bytes: UnsafeRawBufferPointer) -> Content {
        guard bytes.count > 1, bytes[0] >> 6 == 2 else { return .garbage }
        guard bytes[0] >> 4 & 3 != 3, bytes[0] & 8 == 0 else { return .picture }
        let (isKey, isShown) = (bytes[0] & 4 == 0, bytes[0] & 2 != 0)
        if isKey {
            guard bytes.count > 4, bytes[1] == 0x49, bytes[2] == 0x83, bytes[3] == 0x42 else {
                return .garbage
            }
        }
        let isSuperframe = bytes[bytes.count - 1] >> 5 == 0b110
        return isShown || isSuperframe ? .picture : .hidden
    }

    /// Walks the OBUs; one picture is shown where there is a frame.
    private static func av1Content(_ bytes: UnsafeRawBufferPointer) -> Content {
        var units = OpenBitstreamUnits(bytes)
        var (hasUnit, hasFrame) = (false, false)
        while let kind = units.next() {
            hasUnit = true
            if kind == .frame || kind == .frameHeader { hasFrame = true }
        }
        guard hasUnit, !units.isBroken else { return .garbage }
        return hasFrame ? .picture : .hidden
    }

    /// Walks the segments up to the start of frame, which contains the size.
    private static func jpegSize(_ bytes: UnsafeRawBufferPointer) -> VideoSize? {
        guard bytes.count > 3, bytes[0] == 0xff, bytes[1] == 0xd8 else { return nil }
        var at = 2
        while at + 9 < bytes.count, bytes[at] == 0xff {
            let marker = bytes[at + 1]
            let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
            // SOF0 to SOF15, except for three markers in that range with another meaning (DHT, JPG,
            // DAC).
            if (0xc0...0xcf).contains(marker), ![0xc4, 0xc8, 0xcc].contains(marker) {
                return VideoSize(
                    width: Int(bytes[at + 7]) << 8 | Int(bytes[at + 8]),
                    height: Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]))
            }
            // A fill byte has no length field; every other segment has one.
            at += marker == 0xff ? 1 : 2 + max(2, length)
        }
        return nil
    }
}
