internal import CMediaBridge

/// Finds the Debian package that provides an element, a decoder, an encoder or a protocol handler.
package enum DebianPackage {
    /// Returns the package that provides an element, for example `gstreamer1.0-plugins-ugly` for
    /// `x264enc`; `nil` if no package is known.
    package static func providing(element name: String) -> String? {
        let families = ["avenc_", "avdec_", "avmux_", "avdemux_"]
        if families.contains(where: { name.hasPrefix($0) }) { return "gstreamer1.0-libav" }
        return (index + untold).first { $0.elements.contains(name) }?.package
            ?? HardwareElements.of(name)?.package
    }

    /// Returns the package that provides a decoder; `nil` if no package is known.
    ///
    /// - Parameter decoder: The media type that it decodes, such as `video/x-h265`.
    package static func providing(decoder: String) -> String? {
        index.first { $0.decoders.contains(decoder) }?.package
    }

    /// Returns the package that provides an encoder; `nil` if no package is known.
    ///
    /// - Parameter encoder: The media type that it produces.
    package static func providing(encoder: String) -> String? {
        index.first { $0.encoders.contains(encoder) }?.package
    }

    /// Returns the package that provides a source for a URI scheme; `nil` if no package is known.
    ///
    /// - Parameter uriScheme: For example `rtsp` or `https`.
    package static func providing(uriScheme: String) -> String? {
        index.first { $0.uriSources.contains(uriScheme) }?.package
    }

    /// Names of all elements in the index.
    static var elements: [String] { (index + untold).flatMap { $0.elements } }

    /// What one package provides.
    struct Contents: Sendable {
        let package: String
        let elements: Set<String>
        let decoders: Set<String>
        let encoders: Set<String>
        let uriSources: Set<String>

        init(
            package: String, elements: String, decoders: String = "", encoders: String = "",
            uriSources: String = ""
        ) {
            func words(_ text: String) -> Set<String> {
                Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
            }
            self.package = package
            self.elements = words(elements)
            self.decoders = words(decoders)
            self.encoders = words(encoders)
            self.uriSources = words(uriSources)
        }
    }
}

extension DebianPackage {
    /// Elements that packages contain but that their metadata does not list.
    private static let untold: [Contents] = [
        Contents(
            package: "libgstreamer1.0-0",
            elements: """
                capsfilter clocksync concat dataurisrc downloadbuffer fakesink fakesrc fdsink fdsrc
                filesink filesrc funnel identity input-selector multiqueue output-selector queue
                queue2 streamiddemux tee typefind valve
                """),
        Contents(
            package: "gstreamer1.0-plugins-good",
            elements: "dashdemux2 hlsdemux2 mssdemux2 souphttpclientsink souphttpsrc"),
        Contents(package: "gstreamer1.0-libcamera", elements: "libcamerasrc"),
        Contents(package: "gstreamer1.0-rtsp", elements: "rtspclientsink"),
        Contents(package: "gstreamer1.0-espeak", elements: "espeak"),
        Contents(package: "gstreamer1.0-clutter-3.0", elements: "clutterautovideosink"),
        Contents(package: "libges-1.0-0", elements: "gesdemux gessrc"),
    ]
}

// MARK: Hardware

/// Elements that a plugin registers only if it finds the hardware that they need. Debian's package
/// metadata does not list them, because it is generated on machines without that hardware.
struct HardwareElements: Sendable {
    let package: String
    let plugin: String
    /// The hardware that the plugin looks for.
    let hardware: String
    let elements: Set<String>

    private init(_ package: String, _ plugin: String, _ hardware: String, _ elements: String) {
        self.package = package
        self.plugin = plugin
        self.hardware = hardware
        self.elements = Set(elements.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    static func of(_ element: String) -> HardwareElements? {
        all.first { $0.elements.contains(element) }
    }

    /// What to do to get one of these elements.
    var advice: String {
        isInstalled
            ? "its plugin (\(plugin), of \(package)) is installed, but provides it only if it "
                + "finds \(hardware); gst-inspect-1.0 \(plugin) lists its elements"
            : "apt install \(package), which provides it only on a machine with \(hardware)"
    }

    private var isInstalled: Bool {
        guard let found = gst_registry_find_plugin(gst_registry_get(), plugin) else { return false }
        gst_object_unref(UnsafeMutableRawPointer(found))
        return true
    }

    /// The plugins as Debian 12 packages them.
    private static let all = [
        HardwareElements(
            "gstreamer1.0-plugins-bad", "nvcodec", "an Nvidia GPU with Nvidia's driver",
            """
            cudaconvert cudaconvertscale cudadownload cudascale cudaupload nvautogpuh264enc
            nvautogpuh265enc nvav1dec nvcudah264enc nvcudah265enc nvh264dec nvh264enc nvh264sldec
            nvh265dec nvh265enc nvh265sldec nvjpegdec nvjpegenc nvmpeg2videodec nvmpeg4videodec
            nvmpegvideodec nvvp8dec nvvp8sldec nvvp9dec nvvp9sldec
            """),
        HardwareElements(
            "gstreamer1.0-plugins-bad", "va", "a GPU with a VA-API driver",
            """
            vaav1dec vacompositor vadeinterlace vah264dec vah264enc vah264lpenc vah265dec vah265enc
            vah265lpenc vajpegdec vampeg2dec vapostproc vavp8dec vavp9dec
            """),
        HardwareElements(
            "gstreamer1.0-plugins-bad", "qsv", "an Intel GPU with Intel's media driver",
            """
            qsvav1enc qsvh264dec qsvh264enc qsvh265dec qsvh265enc qsvjpegdec qsvjpegenc qsvvp9dec
            qsvvp9enc
            """),
        HardwareElements(
            "gstreamer1.0-plugins-bad", "msdk", "an Intel GPU with Intel's media driver",
            """
            msdkav1dec msdkav1enc msdkh264dec msdkh264enc msdkh265dec msdkh265enc msdkmjpegdec
            msdkmjpegenc msdkmpeg2dec msdkmpeg2enc msdkvc1dec msdkvp8dec msdkvp9dec msdkvp9enc
            msdkvpp
            """),
        HardwareElements(
            "gstreamer1.0-plugins-bad", "v4l2codecs",
            "a stateless V4L2 codec (/dev/media*, single-board computers)",
            """
            v4l2slh264dec v4l2slh265dec v4l2slmpeg2dec v4l2slvp8alphadecodebin v4l2slvp8dec
            v4l2slvp9alphadecodebin v4l2slvp9dec
            """),
        HardwareElements(
            "gstreamer1.0-plugins-good", "video4linux2",
            "a V4L2 codec or converter (/dev/video*, single-board computers)",
            """
            v4l2convert v4l2fwhtdec v4l2fwhtenc v4l2h263dec v4l2h263enc v4l2h264dec v4l2h264enc
            v4l2h265dec v4l2h265enc v4l2jpegdec v4l2jpegenc v4l2mpeg2dec v4l2mpeg4dec v4l2mpeg4enc
            v4l2vp8dec v4l2vp8enc v4l2vp9dec v4l2vp9enc
            """),
        HardwareElements(
            "gstreamer1.0-vaapi", "vaapi", "a GPU with a VA-API driver",
            """
            vaapiav1dec vaapidecode vaapidecodebin vaapih264dec vaapih264enc vaapih265dec
            vaapih265enc vaapijpegdec vaapijpegenc vaapimpeg2dec vaapimpeg2enc vaapioverlay
            vaapipostproc vaapisink vaapivc1dec vaapivp8dec vaapivp8enc vaapivp9dec vaapivp9enc
            """),
        HardwareElements(
            "gstreamer1.0-omx-generic", "omx", "an OpenMAX implementation and its gstomx.conf",
            """
            omxaacdec omxaacenc omxamrdec omxanalogaudiosink omxh263dec omxh263enc omxh264dec
            omxh264enc omxhdmiaudiosink omxmjpegdec omxmp3dec omxmp3enc omxmpeg2videodec
            omxmpeg4videodec omxmpeg4videoenc omxwmvdec
            """),
    ]
}
