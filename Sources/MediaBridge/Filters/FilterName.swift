/// The names of filters, as `--filter` and pipeline files use them.
public enum FilterName {
    /// Every name, with a description of the filter.
    public static let all: [(name: String, meaning: String)] = [
        ("grayscale", "black and white; the luma of YUV does not change"),
        ("mirror", "swaps left and right"),
        ("rotate=90|180|270", "rotates clockwise, in degrees"),
    ]

    /// Returns the filter with the name `text`: `grayscale`, `mirror`, `rotate=90`.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for an unknown name.
    public static func filter(
        _ text: String
    ) throws(PipelineError) -> any VideoProcessor & Sendable {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first.map(String.init) ?? "", parts.count > 1 ? String(parts[1]) : nil) {
        case ("grayscale", nil): return GrayscaleFilter()
        case ("mirror", nil): return FlipFilter(.mirror)
        case ("rotate", "90"?): return FlipFilter(.rotate90)
        case ("rotate", "180"?): return FlipFilter(.rotate180)
        case ("rotate", "270"?): return FlipFilter(.rotate270)
        default:
            throw PipelineError(
                .badValue, message: "no filter \"\(text)\"",
                advice: "one of " + all.map(\.name).joined(separator: ", "))
        }
    }
}
