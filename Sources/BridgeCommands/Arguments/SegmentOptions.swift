internal import ArgumentParser
internal import MediaBridge

/// The options that divide a recording into files, and delete the oldest ones.
struct SegmentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Start a new file every <duration> (e.g. 10m). Default: one file.",
            valueName: "duration"))
    var segment: DurationArgument?

    @Option(
        help: ArgumentHelp(
            """
            Start a new file at the key frame before one has about <bytes> (e.g. 100M, 2G). Default: no limit.
            """,
            valueName: "bytes"))
    var segmentSize: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep only the newest <n> segments (e.g. 6). Default: keep all.", valueName: "n"))
    var keep: Int?

    @Option(
        help: ArgumentHelp(
            "Keep only the newest segments, up to <bytes> in total (e.g. 10G). Default: keep all.",
            valueName: "bytes"))
    var keepSize: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep only files that were written to within <duration> (e.g. 7d). Default: keep all.",
            valueName: "duration"))
    var keepAge: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Delete files while the disk has less than <bytes> free (e.g. 20G). Default: keep all.",
            valueName: "bytes"))
    var keepFree: SizeArgument?

    @Flag(
        help: """
            End files at multiples of --segment by the clock: with 10m, at :00, :10, :20 and so on. \
            Default: --segment after they began.
            """)
    var align = false

    var isLimited: Bool { segment != nil || segmentSize != nil }
    var hasRing: Bool { segments?.isRing == true }

    func validate() throws {
        for (name, size) in [
            ("--keep-size", keepSize), ("--segment-size", segmentSize), ("--keep-free", keepFree),
        ] where size?.value == 0 {
            throw ValidationError("\(name) must be 1 or more")
        }
        if let keep, keep < 1 { throw ValidationError("--keep must be 1 or more") }
        if align, segment == nil { throw ValidationError("--align requires --segment") }
    }

    /// `nil` if no option limits the files or their number.
    var segments: RecordingSegments? {
        var segments = RecordingSegments(
            length: segment?.value, bytes: segmentSize?.value, keepFiles: keep,
            keepBytes: keepSize?.value, keepAge: keepAge?.value, keepFree: keepFree?.value)
        segments.isAligned = align
        return isLimited || segments.isRing ? segments : nil
    }
}
