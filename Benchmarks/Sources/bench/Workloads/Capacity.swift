import Foundation

/// The share of a core that a stream takes when it is decoded, or decoded and re-encoded, by size and
/// codec. Every pixel of the film moves.
enum Capacity: Workload {
    static let name = "capacity"

    static func comparisons(isFull: Bool, in media: Media) -> [Comparison] {
        guard isFull else { return [] }
        return ["640x360", "1280x720", "1920x1080"].flatMap { size in
            let film = media.directory.appending(path: "capacity-\(size).mkv").path
            let capture =
                "filesrc location=\(film) ! matroskademux ! h264parse ! avdec_h264 max-threads=1"
            return works.map { work in
                var comparison = Comparison(
                    "capacity-\(work.name)-\(size)", "\(work.title), \(size)", pieces: 300,
                    figures: [.cpu, .peak]
                ) { _ in
                    [
                        .bridge(capture, work.output),
                        .launch("gst-launch-1.0", "\(capture) ! queue ! \(work.output)"),
                    ]
                }
                comparison.prepare = { try makeFilm(at: film, size: size) }
                return comparison
            }
        }
    }

    private static let works = [
        (name: "decode", title: "H.264 decoded", output: "fakesink sync=false"),
        (
            name: "h264", title: "Decoded and encoded to H.264",
            output: "x264enc tune=zerolatency speed-preset=veryfast threads=1 ! fakesink sync=false"
        ),
        (
            name: "vp8", title: "Decoded and encoded to VP8",
            output: "vp8enc deadline=1 cpu-used=8 threads=1 ! fakesink sync=false"
        ),
    ]

    /// Writes a 10 s H.264 film in Matroska at 30 fps, unless it exists.
    private static func makeFilm(at file: String, size: String) throws {
        guard !FileManager.default.fileExists(atPath: file) else { return }
        let sides = size.split(separator: "x")
        let line =
            "-q videotestsrc num-buffers=300 pattern=zone-plate kx2=20 ky2=20 kt=1 ! "
            + "video/x-raw,format=I420,width=\(sides[0]),height=\(sides[1]),framerate=30/1 ! "
            + "x264enc speed-preset=veryfast ! h264parse ! matroskamux ! filesink location=\(file)"
        _ = try Program.run("gst-launch-1.0", line.split(separator: " ").map(String.init))
    }
}
