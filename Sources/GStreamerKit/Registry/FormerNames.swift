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
