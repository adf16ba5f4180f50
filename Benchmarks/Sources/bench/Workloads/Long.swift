import Foundation

/// Ten times the work beside the same work once: recordings of hours, and directories of many files, must cost
/// no more than in proportion.
enum Long: Workload {
    static let name = "long"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        [audioAndVideo(media), finish(media), list(media), clip(media), files(media), ring(media)]
    }

    /// - Parameter arguments: Returns the command's arguments for an amount of work.
    private static func comparison(
        _ name: String, _ title: String, _ amount: Int, piece: String = "frame",
        prepare: @escaping (Int) throws -> Void = { _ in }, _ arguments: @escaping (Int) -> [String]
    ) -> Comparison {
        var comparison = Comparison(
            "long-\(name)", title, pieces: 1, piece: "run", figures: [.cpu, .wall, .peak]
        ) { _ in
            [10 * amount, amount].map { amount in
                .plain("\(amount) \(piece)s", arguments(amount), limits: [Limit(.cpu, .ratio(11))])
            }
        }
        comparison.prepare = { try [10 * amount, amount].forEach(prepare) }
        return comparison
    }

    /// Faster than real time: the encoder of audio is ahead of that of video.
    private static func audioAndVideo(_ media: Media) -> Comparison {
        comparison("record", "Audio and video recorded to Matroska", 3000) { frames in
            let capture =
                "videotestsrc pattern=black num-buffers=\(frames) ! "
                + "video/x-raw,width=64,height=48,framerate=30/1 ! appsink name=video "
                + "audiotestsrc samplesperbuffer=1600 num-buffers=\(frames) ! "
                + "audio/x-raw,rate=48000 ! appsink name=audio"
            return ["record", "--overwrite", "--capture", capture, path("record.mkv", media)]
        }
    }

    /// One fragment per frame, which the finish joins.
    private static func finish(_ media: Media) -> Comparison {
        comparison("finish", "A fragment per frame, recorded and finished", 3000) { frames in
            let capture =
                "videotestsrc pattern=black num-buffers=\(frames) ! "
                + "video/x-raw,width=16,height=16,framerate=1/1"
            return ["record", "--overwrite", "--capture", capture, path("finish.mp4", media)]
        }
    }

    private static func list(_ media: Media) -> Comparison {
        comparison(
            "list", "`list` of an unfinished mp4", 3000, piece: "fragment",
            prepare: { try makeMovie($0, media) }
        ) { ["list", movie($0, media)] }
    }

    private static func clip(_ media: Media) -> Comparison {
        comparison(
            "clip", "`clip` of an unfinished mp4", 3000, piece: "fragment",
            prepare: { try makeMovie($0, media) }
        ) { ["clip", "--overwrite", movie($0, media), path("clip.mp4", media)] }
    }

    private static func files(_ media: Media) -> Comparison {
        comparison(
            "files", "`list` of a directory", 100, piece: "file",
            prepare: { count in
                let one = path("one.mkv", media)
                try? FileManager.default.removeItem(atPath: one)
                try Media.makeFilm(at: one, seconds: 1)
                try fill(path("files-\(count)", media), count) {
                    try FileManager.default.copyItem(atPath: one, toPath: $0)
                }
            }
        ) { ["list", path("files-\($0)", media)] }
    }

    /// The ring removes nothing, so that every round finds the same files.
    private static func ring(_ media: Media) -> Comparison {
        comparison(
            "ring", "A ring's start", 1000, piece: "file",
            prepare: { count in
                try fill(path("ring-\(count)", media), count) {
                    FileManager.default.createFile(atPath: $0, contents: Data([0]))
                }
            }
        ) { count in
            [
                "record", "--capture", "videotestsrc num-buffers=30", "--segment", "1h", "--keep",
                "1000000", path("ring-\(count)/out.mkv", media),
            ]
        }
    }

    // MARK: Input

    private static func path(_ name: String, _ media: Media) -> String {
        media.directory.appending(path: name).path
    }

    private static func movie(_ fragments: Int, _ media: Media) -> String {
        path("movie-\(fragments).mp4", media)
    }

    private static func makeMovie(_ fragments: Int, _ media: Media) throws {
        guard !FileManager.default.fileExists(atPath: movie(fragments, media)) else { return }
        let line =
            "-q videotestsrc pattern=black num-buffers=\(fragments) ! "
            + "video/x-raw,width=16,height=16,framerate=1/1 ! x264enc speed-preset=ultrafast "
            + "key-int-max=30 ! h264parse ! mp4mux fragment-duration=400 "
            + "fragment-mode=dash-or-mss ! filesink location=\(movie(fragments, media))"
        _ = try Program.run("gst-launch-1.0", line.split(separator: " ").map(String.init))
    }

    private static func fill(
        _ directory: String, _ count: Int, _ make: (String) throws -> Void
    ) throws {
        guard !FileManager.default.fileExists(atPath: directory) else { return }
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        for number in 0..<count {
            try make("\(directory)/out-\(String(format: "%05d", number)).mkv")
        }
    }
}
