internal import CMediaBridge

/// Names of GStreamer 0.10, which are still found in documentation and answers, and their present
/// names.
///
/// Source: "Porting from GStreamer 0.10 to 1.0" (docs/random/porting-to-1.0.txt of GStreamer), the
/// release notes of 1.0, and the release notes of later versions for removed elements.
enum FormerNames {
    /// Returns the present replacement for an element of 0.10, with the package to install if the
    /// replacement is not installed; `nil` if the name is not an old one, or if this machine has an
    /// element of that name.
    static func element(_ name: String) -> String? {
        guard let today = renamed(name), !isInstalled(name) else { return nil }
        guard !isInstalled(today), let package = DebianPackage.providing(element: today) else {
            return today
        }
        return "\(today) (apt install \(package))"
    }

    /// Returns the present name of a property of 0.10, if `available` contains it.
    static func property(_ name: String, among available: some Sequence<String>) -> String? {
        guard let names = properties[name] else { return nil }
        return available.first { names.contains($0) }
    }

    private static func isInstalled(_ name: String) -> Bool {
        guard let factory = gst_element_factory_find(name) else { return false }
        gst_object_unref(UnsafeMutableRawPointer(factory))
        return true
    }

    private static func renamed(_ name: String) -> String? {
        if let today = elements[name] { return today }
        for (former, today) in families where name.hasPrefix(former) {
            return today + name.dropFirst(former.count)
        }
        return nil
    }

    /// All present names that replace a single old name, as opposed to a family with a common
    /// prefix.
    static var answers: Set<String> { Set(elements.values) }

    private static let families = [
        ("ffdec_", "avdec_"), ("ffenc_", "avenc_"), ("ffmux_", "avmux_"),
        ("ffdemux_", "avdemux_"), ("gstrtp", "rtp"),
    ]

    private static let elements: [String: String] = pairs(
        """
        ffmpegcolorspace videoconvert, colorspace videoconvert, cogcolorspace videoconvert,
        ffcolorspace videoconvert, ffvideoscale videoscale, ffaudioresample audioresample,
        ffdeinterlace avdeinterlace, legacyresample audioresample, speexresample audioresample,
        audioresample2 audioresample, deinterlace2 deinterlace, videomixer2 compositor,
        videomixer compositor, decodebin2 decodebin, playbin2 playbin, camerabin2 camerabin,
        gconfaudiosink autoaudiosink, gconfaudiosrc autoaudiosrc, gconfvideosink autovideosink,
        gconfvideosrc autovideosrc, gsettingsaudiosink autoaudiosink,
        gsettingsaudiosrc autoaudiosrc, gsettingsvideosink autovideosink,
        gsettingsvideosrc autovideosrc, halaudiosink autoaudiosink, halaudiosrc autoaudiosrc,
        esdsink pulsesink, esdmon pulsesrc, artsdsink pulsesink, sdlvideosink autovideosink,
        sdlaudiosink autoaudiosink, sunaudiosink autoaudiosink, v4lsrc v4l2src,
        v4ljpegsrc v4l2src, gnomevfssrc giosrc, gnomevfssink giosink, neonhttpsrc souphttpsrc,
        audioparse rawaudioparse, videoparse rawvideoparse, mp3parse mpegaudioparse,
        mpegvparse mpegvideoparse, mpegparse mpegpsdemux, mpegdemux mpegpsdemux,
        flupsdemux mpegpsdemux, ffmpegtsdemux tsdemux, mpegtsdemux tsdemux, flutsdemux tsdemux,
        flutsmux mpegtsmux, flups2demux mpegpsdemux, flump3dec mpg123audiodec,
        mad mpg123audiodec, lame lamemp3enc, lamemp3 lamemp3enc, twolame twolamemp2enc,
        xviddec avdec_mpeg4, xvidenc avenc_mpeg4, amrwbenc voamrwbenc, id3mux id3v2mux,
        jp2kdec openjpegdec, jp2kenc openjpegenc, celtdec opusdec, celtenc opusenc,
        cairotextoverlay textoverlay, cairotimeoverlay timeoverlay, cairorender textrender,
        freeze imagefreeze, gdkpixbufscale videoscale, decklinksrc decklinkvideosrc,
        decklinksink decklinkvideosink, selector input-selector
        """)

    /// Renamed properties, for any element that has the new name and not the old one.
    private static let properties: [String: [String]] = [
        "halign": ["halignment"], "valign": ["valignment"],
        "filename": ["location"], "sock": ["socket"], "sockfd": ["socket"],
        "closefd": ["close-socket"], "multicast-group": ["address"],
        "message": ["post-messages"], "last-buffer": ["last-sample"],
        "unit-type": ["unit-format"], "burst-unit": ["burst-format"],
        "send-config": ["config-interval"], "always-copy": ["io-mode"],
        // vp8enc: bits per second are unchanged; the other properties use different scales.
        "bitrate": ["target-bitrate"], "speed": ["cpu-used"], "quality": ["cq-level"],
        "max-keyframe-distance": ["keyframe-max-dist"], "max-latency": ["lag-in-frames"],
        "mode": ["end-usage"],
    ]

    private static func pairs(_ text: String) -> [String: String] {
        let pairs = text.split(separator: ",").map { $0.split(whereSeparator: \.isWhitespace) }
        return Dictionary(
            pairs.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) },
            uniquingKeysWith: { first, _ in first })
    }
}

// MARK: Caps

/// Converts caps in the syntax of GStreamer 0.10, where each family of raw formats had its own
/// media type (`video/x-raw-yuv,format=(fourcc)I420`), to the present syntax.
enum FormerCaps {
    /// Finds old caps in a link (`! caps !`) or an assignment (`caps="…"`) and returns them with
    /// their present form; `nil` if there are none.
    static func change(in text: String) -> (today: String, former: String)? {
        var caps = Substring(text)
        if let equals = caps.firstIndex(of: "="),
            !caps[..<equals].contains(where: { "/!,".contains($0) })
        {
            caps = caps[caps.index(after: equals)...]
        }
        let former = String(caps).trimming { "!:\"'".contains($0) || $0.isWhitespace }
        return today(former).map { ($0, former) }
    }

    /// Returns old caps in the present syntax; `nil` if they are not old.
    static func today(_ caps: String) -> String? {
        let parts = split(caps, at: ";").map { part -> (text: String, isOld: Bool) in
            let fields = split(part, at: ",").map { $0.trimming(\.isWhitespace) }
            return structure(fields).map { ($0, true) } ?? (part.trimming(\.isWhitespace), false)
        }
        guard parts.contains(where: \.isOld) else { return nil }
        return parts.map(\.text).joined(separator: ";")
    }

    private static let types = [
        "video/x-raw-yuv": "video/x-raw", "video/x-raw-rgb": "video/x-raw",
        "video/x-raw-gray": "video/x-raw", "video/x-raw-bayer": "video/x-bayer",
        "audio/x-raw-int": "audio/x-raw", "audio/x-raw-float": "audio/x-raw",
        "video/x-raw-gl": "video/x-raw(memory:GLMemory)",
        "video/x-dvd-subpicture": "subpicture/x-dvd",
    ]

    private static func structure(_ fields: [String]) -> String? {
        guard let former = fields.first else { return nil }
        let hasFourcc = fields.contains { $0.contains("(fourcc)") }
        guard let type = types[former] ?? (hasFourcc ? former : nil) else { return nil }
        var values: [String: String] = [:]
        var kept: [String] = []
        for field in fields.dropFirst() {
            guard let equals = field.firstIndex(of: "=") else { continue }
            let key = String(field[..<equals]).trimming(\.isWhitespace)
            let value = String(field[field.index(after: equals)...]).trimming(\.isWhitespace)
            values[key] = bare(value)
            switch key {
            case "format", "bpp", "depth", "endianness", "signed", "red_mask", "green_mask",
                "blue_mask", "alpha_mask", "color-matrix", "buffer-frames":
                break
            case "width" where former.hasPrefix("audio/"): break
            case "interlaced":
                kept.append(
                    "interlace-mode=\(bare(value) == "true" ? "interleaved" : "progressive")")
            default: kept.append("\(key)=\(value)")
            }
        }
        let format = Self.format(former, values).map { ["format=\($0)"] } ?? []
        return ([type] + format + kept).joined(separator: ",")
    }

    private static func format(_ type: String, _ values: [String: String]) -> String? {
        let isBig = values["endianness"].map { ["4321", "BIG_ENDIAN"].contains($0) } ?? false
        switch type {
        case "audio/x-raw-int": return integer(values, isBig)
        case "audio/x-raw-float":
            return values["width"].map { "F\($0)\(isBig ? "BE" : "LE")" }
        case "video/x-raw-gray":
            return values["bpp"] == "16" ? "GRAY16_\(isBig ? "BE" : "LE")" : "GRAY8"
        case "video/x-raw-rgb": return rgb(values)
        default: return values["format"].map(fourcc)
        }
    }

    private static func integer(_ values: [String: String], _ isBig: Bool) -> String? {
        guard let width = values["width"] else { return nil }
        let sign = values["signed"] == "false" ? "U" : "S"
        if width == "8" { return sign + "8" }
        let depth = values["depth"] ?? width
        let bits = depth == width ? width : "\(depth)_\(width)"
        return sign + bits + (isBig ? "BE" : "LE")
    }

    /// Returns the format's name. The position of red determines the order of all components.
    private static func rgb(_ values: [String: String]) -> String? {
        let red = values["red_mask"].flatMap(number)
        let alpha = values["alpha_mask"] != nil || values["depth"] == "32" ? "A" : "x"
        switch (values["bpp"], red) {
        case ("24", 0xff): return "BGR"
        case ("24", _): return "RGB"
        case ("32", 0xff00_0000): return "RGB\(alpha)"
        case ("32", 0x00ff_0000): return "\(alpha)RGB"
        case ("32", 0x0000_00ff): return "\(alpha)BGR"
        case ("32", _): return "BGR\(alpha)"
        case ("16", _): return values["depth"] == "15" ? "RGB15" : "RGB16"
        case ("15", _): return "RGB15"
        default: return nil
        }
    }

    /// Parses a mask: a signed or unsigned 32-bit decimal number, or a hexadecimal one.
    private static func number(_ text: String) -> UInt32? {
        if text.hasPrefix("0x") { return UInt32(text.dropFirst(2), radix: 16) }
        return UInt32(text) ?? Int32(text).map { UInt32(bitPattern: $0) }
    }

    private static func fourcc(_ value: String) -> String {
        let names = ["Y800": "GRAY8", "GREY": "GRAY8", "Y8": "GRAY8", "IYUV": "I420"]
        return names[value] ?? value
    }

    /// Returns a value, or a list of values, without type prefixes such as `(fourcc)` and without
    /// quotes.
    private static func bare(_ value: String) -> String {
        value.replacing(/\([^)]*\)/, with: "").filter { $0 != "\"" && $0 != "'" }
            .trimming(\.isWhitespace)
    }

    /// Splits text at separators that are outside of brackets.
    private static func split(_ text: String, at separator: Character) -> [String] {
        var parts: [String] = [""]
        var depth = 0
        for character in text {
            if "{[(<".contains(character) { depth += 1 }
            if "}])>".contains(character) { depth -= 1 }
            if character == separator, depth <= 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }
}
