/// Which Debian package brings an element, a decoder or a protocol handler.
public enum DebianPackage {
    /// `gstreamer1.0-plugins-ugly` for `x264enc`; `nil` where no package is known.
    public static func providing(element name: String) -> String? {
        let families = ["avenc_", "avdec_", "avmux_", "avdemux_"]
        if families.contains(where: { name.hasPrefix($0) }) { return "gstreamer1.0-libav" }
        return (index + untold).first { $0.elements.contains(name) }?.package
            ?? HardwareElements.of(name)?.package
    }

    /// - Parameter decoder: A media type, such as `video/x-h265`.
    public static func providing(decoder: String) -> String? {
        index.first { $0.decoders.contains(decoder) }?.package
    }

    /// - Parameter encoder: A media type.
    public static func providing(encoder: String) -> String? {
        index.first { $0.encoders.contains(encoder) }?.package
    }

    /// - Parameter uriScheme: `rtsp`, `https`.
    public static func providing(uriScheme: String) -> String? {
        index.first { $0.uriSources.contains(uriScheme) }?.package
    }

    /// Every element that is known.
    static var elements: [String] { (index + untold).flatMap { $0.elements } }

    /// What a package brings.
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
