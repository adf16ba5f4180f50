package import CMediaBridge

/// The format of a stream: `video/x-raw, format=I420, width=1280 …`. Immutable and
/// reference-counted.
///
/// Sendable: caps with more than one reference are immutable in GStreamer, and this class never
/// writes to them. Thread: any.
package final class Caps: @unchecked Sendable, CustomStringConvertible {
    package let pointer: UnsafeMutablePointer<GstCaps>

    /// An identity for comparison: two objects with equal identities, both alive, are the same
    /// GstCaps.
    package let identity: UInt

    init(adopting pointer: UnsafeMutablePointer<GstCaps>) {
        self.pointer = pointer
        identity = UInt(bitPattern: pointer)
    }

    package convenience init(retaining pointer: UnsafeMutablePointer<GstCaps>) {
        self.init(adopting: mb_caps_ref(pointer))
    }

    /// Parses caps in gst-launch's syntax.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/syntax``.
    package convenience init(_ text: String) throws(PipelineError) {
        try GStreamer.initialize()
        guard let pointer = gst_caps_from_string(text) else {
            throw PipelineError(.syntax, message: "not caps: \"\(text)\"")
        }
        self.init(adopting: pointer)
    }

    deinit { mb_caps_unref(pointer) }

    /// Declares to GStreamer's tracer of leaks that they are kept until the process ends.
    package func declareKept() {
        pointer.pointee.mini_object.flags |= GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED.rawValue
    }

    /// ANY: always the same GstCaps.
    package static var any: Caps { Caps(adopting: mb_caps_any()) }

    /// The media type of the first structure, for example `video/x-raw`; `ANY` if there is no
    /// structure.
    package var mediaType: String {
        structure.flatMap { gst_structure_get_name($0) }.map { String(cString: $0) } ?? "ANY"
    }

    /// The media types of all structures; empty for ANY.
    package var mediaTypes: [String] {
        structures.compactMap { gst_structure_get_name($0).map { String(cString: $0) } }
    }

    private var structures: [UnsafeMutablePointer<GstStructure>] {
        (0..<gst_caps_get_size(pointer)).compactMap { gst_caps_get_structure(pointer, $0) }
    }

    /// The first structure; `nil` if there is none.
    var structure: UnsafeMutablePointer<GstStructure>? {
        gst_caps_get_size(pointer) > 0 ? gst_caps_get_structure(pointer, 0) : nil
    }

    /// Returns whether both are equal, field by field.
    package func isEqual(to other: Caps) -> Bool {
        gst_caps_is_equal(pointer, other.pointer) != 0
    }

    /// Returns whether the other caps allow every format of these.
    func isSubset(of other: Caps) -> Bool { gst_caps_is_subset(pointer, other.pointer) != 0 }

    /// Whether they are ANY.
    package var isAny: Bool { gst_caps_is_any(pointer) != 0 }

    /// Whether they are EMPTY.
    package var isEmpty: Bool { gst_caps_is_empty(pointer) != 0 }

    /// Whether they describe exactly one format.
    package var isFixed: Bool { gst_caps_is_fixed(pointer) != 0 }

    /// Returns the intersection, in the order of preference of these caps.
    package func intersection(_ other: Caps) -> Caps {
        Caps(
            adopting: gst_caps_intersect_full(
                pointer, other.pointer, GST_CAPS_INTERSECT_FIRST))
    }

    /// Returns the intersection in an order that respects the preferences of both, as a tee does.
    package func zigzagIntersection(_ other: Caps) -> Caps {
        Caps(adopting: gst_caps_intersect(pointer, other.pointer))
    }

    /// Returns these caps and, after them, the others.
    package func union(_ other: Caps) -> Caps {
        Caps(adopting: gst_caps_merge(mb_caps_ref(pointer), mb_caps_ref(other.pointer)))
    }

    /// Whether any structure is raw video or audio.
    package var isRaw: Bool { mediaTypes.contains { $0.hasSuffix("/x-raw") } }

    /// Whether the first structure is audio, raw or encoded.
    package var isSound: Bool { mediaType.hasPrefix("audio/") }

    /// Whether the first describes encoded pictures in no container, so that the time of each buffer
    /// is that of a picture.
    package var isEncodedPictures: Bool {
        let mediaType = mediaType
        guard mediaType != "video/mpeg" else {
            return (try? Caps("video/mpeg,systemstream=(boolean)false"))
                .map { !intersection($0).isEmpty } ?? false
        }
        return Self.encodedPictures.contains(mediaType)
    }

    /// Whether the first describes encoded pictures of which each is one buffer.
    package var isAlignedToPictures: Bool {
        ["au", "tu"].contains(text(of: "alignment")) && isEncodedPictures
    }

    private static let encodedPictures: Set<String> = [
        "image/jpeg", "image/jp2", "image/x-j2c", "image/png", "video/x-av1", "video/x-cavs",
        "video/x-dirac", "video/x-divx", "video/x-ffv", "video/x-h263", "video/x-h264",
        "video/x-h265", "video/x-prores", "video/x-theora", "video/x-vp6", "video/x-vp8",
        "video/x-vp9", "video/x-wmv",
    ]

    /// Whether each structure has a field, with no value that the first structure of other caps does not have.
    func hasOnly(_ field: String, of other: Caps) -> Bool {
        guard let all = other.structure.flatMap({ gst_structure_get_value($0, field) }) else {
            return false
        }
        return structures.allSatisfy { structure in
            gst_structure_get_value(structure, field).map { gst_value_is_subset($0, all) != 0 }
                ?? false
        }
    }

    /// Caps of the same media types with any memory features and no other fields; `nil` for ANY.
    package var kinds: Caps? {
        let types = Set(mediaTypes).sorted()
        guard !types.isEmpty else { return nil }
        return try? Caps(types.map { "\($0)(ANY)" }.joined(separator: "; "))
    }

    /// The caps in gst-launch's syntax.
    package var description: String { String(adopting: gst_caps_to_string(pointer)) ?? "" }
}

// MARK: Streams

extension Caps {
    /// Fields that a muxer writes into a file's header, and cannot change afterwards. The frame
    /// rate is not among them: each unit has its own timestamp.
    private static let headerFields = [
        "width", "height", "pixel-aspect-ratio", "colorimetry", "chroma-site", "interlace-mode",
        "multiview-mode", "mastering-display-info", "content-light-level", "stream-format",
        "profile", "rate", "channels", "channel-mask",
    ]

    /// Fields that a decoder needs before the first unit: both caps must have them, or both must
    /// lack them.
    private static let decoderFields = ["codec_data", "streamheader"]

    /// Whether units of both caps can be in one stream of one file: the same codec, codec data,
    /// size, colour, pixel aspect ratio, interlacing, sample rate and channels. The frame rate may
    /// differ; a field that only one of the two has counts as equal, unless it is codec data.
    package func isSameStream(as other: Caps) -> Bool {
        if identity == other.identity { return true }
        guard mediaType == other.mediaType, let own = structure, let others = other.structure
        else { return false }
        func isEqual(_ field: String, isNeeded: Bool) -> Bool {
            let one = gst_structure_get_value(own, field)
            let two = gst_structure_get_value(others, field)
            guard let one, let two else { return !isNeeded || (one == nil && two == nil) }
            return gst_value_compare(one, two) == GST_VALUE_EQUAL
        }
        return Self.decoderFields.allSatisfy { isEqual($0, isNeeded: true) }
            && Self.headerFields.allSatisfy { isEqual($0, isNeeded: false) }
    }

    /// Whether both have the same mastering display and content light level.
    package func hasSameBrightness(as other: Caps) -> Bool {
        ["mastering-display-info", "content-light-level"].allSatisfy { field in
            text(of: field) == other.text(of: field)
        }
    }

    /// The ten numbers of the mastering display, in GStreamer's order and units; `nil` if it is not stated.
    package var masteringDisplay: [Int]? { numbers(of: "mastering-display-info", count: 10) }

    /// The highest and the highest average content light level, in cd/m²; `nil` if they are not stated.
    package var contentLight: [Int]? { numbers(of: "content-light-level", count: 2) }

    private func numbers(of field: String, count: Int) -> [Int]? {
        let numbers = text(of: field)?.split(separator: ":").compactMap { Int($0) }
        return numbers?.count == count ? numbers : nil
    }

    func unsigned(of field: String) -> UInt32? {
        var value: guint = 0
        guard let structure, gst_structure_get_uint(structure, field, &value) != 0 else {
            return nil
        }
        return value
    }

    func text(of field: String) -> String? {
        structure.flatMap { mb_structure_string($0, field) }.map { String(cString: $0) }
    }

    /// Returns a copy with another interlace mode and without the field order; the fields of a
    /// picture stay where they are in the frame.
    package func interlaced(as mode: String) -> Caps {
        guard let copy = gst_caps_copy(pointer), let structure = gst_caps_get_structure(copy, 0)
        else { return self }
        var value = GValue()
        g_value_init(&value, g_type_from_name("gchararray"))
        g_value_set_string(&value, mode)
        gst_structure_set_value(structure, "interlace-mode", &value)
        g_value_unset(&value)
        gst_structure_remove_field(structure, "field-order")
        return Caps(adopting: copy)
    }

    /// Fields of pictures and sound that a decoder requests on behalf of the elements downstream.
    private static let mediaFields: Set = [
        "width", "height", "framerate", "max-framerate", "pixel-aspect-ratio", "interlace-mode",
        "field-order", "colorimetry", "chroma-site", "multiview-mode", "multiview-flags", "views",
        "format", "rate", "channels", "channel-mask", "layout",
    ]

    /// Returns the requirements for an encoded stream with the caps `offered`: the intersection,
    /// without ranges, and without fields of pictures and sound that `offered` lacks. The caps of
    /// an encoded stream may omit its size or its rate.
    package func demands(on offered: Caps) -> Caps {
        let common = intersection(offered)
        guard let copy = withExtendedLifetime(common, { gst_caps_copy(common.pointer) }) else {
            return self
        }
        let known = offered.fields
        for index in 0..<gst_caps_get_size(copy) {
            guard let structure = gst_caps_get_structure(copy, index) else { continue }
            for field in Self.fields(of: structure)
            where Self.mediaFields.contains(field) && !known.contains(field)
                || Self.isRange(gst_structure_get_value(structure, field))
            {
                gst_structure_remove_field(structure, field)
            }
        }
        return Caps(adopting: gst_caps_simplify(copy))
    }

    /// The names of the fields of all structures.
    private var fields: Set<String> {
        Set(structures.flatMap { Self.fields(of: $0) })
    }

    private static func fields(of structure: UnsafeMutablePointer<GstStructure>) -> [String] {
        (0..<gst_structure_n_fields(structure)).compactMap {
            gst_structure_nth_field_name(structure, guint($0)).map { String(cString: $0) }
        }
    }

    private static func isRange(_ value: UnsafePointer<GValue>?) -> Bool {
        guard let value, let name = g_type_name(value.pointee.g_type) else { return false }
        return ["GstIntRange", "GstInt64Range", "GstDoubleRange", "GstFractionRange"]
            .contains(String(cString: name))
    }
}

// MARK: Encoded media

extension Caps {
    /// The `codec_data` of the first structure; `nil` if it has none.
    package var codecData: [UInt8]? {
        guard let structure, let value = gst_structure_get_value(structure, "codec_data"),
            let boxed = mb_value_buffer(value)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(gst_buffer_get_size(boxed)))
        let count = bytes.withUnsafeMutableBytes {
            gst_buffer_extract(boxed, 0, $0.baseAddress, gsize($0.count))
        }
        return Int(count) == bytes.count ? bytes : nil
    }

    /// Returns the caps with other codec data.
    package func replacingCodecData(
        _ old: [UInt8], by new: [UInt8]
    ) throws(PipelineError) -> Caps {
        try Caps(
            description.replacing(Caps.hexadecimal(old), with: Caps.hexadecimal(new)))
    }

    /// Width and height in the first structure, in pixels; `nil` unless both are present.
    package var pictureSize: (width: Int, height: Int)? {
        guard let width = integer("width"), let height = integer("height") else { return nil }
        return (width, height)
    }

    /// Frames per second in the first structure; `nil` if it is missing, not fixed or variable (0/1).
    package var frameRate: (numerator: Int, denominator: Int)? {
        guard let structure else { return nil }
        var (numerator, denominator) = (gint(0), gint(0))
        guard
            gst_structure_get_fraction(structure, "framerate", &numerator, &denominator) != 0,
            numerator > 0, denominator > 0
        else { return nil }
        return (Int(numerator), Int(denominator))
    }

    /// Sample rate in Hz and number of channels in the first structure; `nil` for a value that is
    /// missing or not fixed.
    package var soundFormat: (rate: Int?, channels: Int?) { (integer("rate"), integer("channels")) }

    /// Whether the first structure is MPEG audio of version 1: MP3.
    package var isMPEG1Sound: Bool { integer("mpegversion") == 1 }

    /// The ``parserKey`` of MP1, MP2 and MP3, which have the media type of AAC.
    package static let mpeg1Sound = "audio/mpeg,mpegversion=1"

    /// The media type, as far as it determines the parser.
    package var parserKey: String {
        mediaType == "audio/mpeg" && isMPEG1Sound ? Self.mpeg1Sound : mediaType
    }

    private func integer(_ field: String) -> Int? {
        var value: gint = 0
        guard let structure, gst_structure_get_int(structure, field, &value) != 0 else {
            return nil
        }
        return Int(value)
    }

    /// Returns bytes as the text of a field of type buffer.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

// MARK: Opus

extension Caps {
    /// Returns caps with a pre-skip of zero, so that a decoder discards no samples: for a file that
    /// begins in the middle of the stream. `nil` for caps without an Opus header.
    ///
    /// Source: RFC 7845, section 5.1.
    package func withoutOpusPreSkip() -> Caps? {
        guard mediaType == "audio/x-opus" else { return nil }
        var text = Array(description)
        // "OpusHead" in hexadecimal digits. The pre-skip is at byte 10 of at least 19.
        guard let header = text.firstRange(of: Array("4f70757348656164")),
            text[header.lowerBound...].prefix(38).allSatisfy(\.isHexDigit)
        else { return nil }
        text.replaceSubrange(header.lowerBound + 20..<header.lowerBound + 24, with: "0000")
        return try? Caps(String(text))
    }
}

// MARK: Device memory

extension Caps {
    /// The device memory that the first structure requires: `GLMemory`, `DMABuf` …; `nil` for
    /// system memory.
    package var deviceMemory: String? {
        guard gst_caps_get_size(pointer) > 0, let features = gst_caps_get_features(pointer, 0)
        else { return nil }
        return (0..<gst_caps_features_get_size(features)).lazy
            .compactMap { gst_caps_features_get_nth(features, $0).map { String(cString: $0) } }
            .first { $0.hasPrefix("memory:") && $0 != "memory:SystemMemory" }
            .map { String($0.dropFirst("memory:".count)) }
    }

    /// The elements that download frames from a device's memory to system memory, and upload them.
    private static let bridges: [String: (down: String, up: String)] = [
        "GLMemory": ("gldownload", "glupload"),
        "CUDAMemory": ("cudadownload", "cudaupload"),
        "VAMemory": ("vapostproc", "vapostproc"),
        "VASurface": ("vaapipostproc", "vaapipostproc"),
        "VulkanImage": ("vulkandownload", "vulkanupload"),
        "NVMM": ("nvvidconv", "nvvidconv"),
    ]

    /// Advice on how to download frames of these caps to system memory; `nil` if they are already
    /// in system memory.
    package var downloadAdvice: String? {
        deviceMemory.map { memory in
            let element = Self.bridges[memory]?.down
            return element.map { "add \($0) to the capture, after the element with these caps" }
                ?? "add an element to the capture that downloads the frames from memory:\(memory)"
        }
    }

    /// Advice on how to upload frames to the device memory that these caps require; `nil` if they
    /// require none.
    package var uploadAdvice: String? {
        deviceMemory.map { memory in
            Self.bridges[memory].map { "put \($0.up) at the beginning of the output" }
                ?? "put an element that produces memory:\(memory) at the beginning of the output"
        }
    }
}
