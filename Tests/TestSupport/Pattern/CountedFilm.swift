import Foundation

/// Films of ffmpeg whose pictures contain their own number, in ten blocks side by side: one for each bit,
/// the lowest on the left. The number survives encoding.
public enum CountedFilm {
    /// Writes a film of 160×96 with white noise.
    ///
    /// - Parameters:
    ///   - count: The number of pictures, up to 1024.
    ///   - rate: Pictures per second.
    ///   - arguments: ffmpeg's arguments for the output: codecs, for example.
    public static func make(
        _ path: String, count: Int, rate: Int = 30, _ arguments: [String]
    ) async throws {
        let seconds = Double(count) / Double(rate)
        try await Tool.check(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i",
                "color=gray:size=160x96:rate=\(rate):duration=\(seconds),format=gray,"
                    + "geq=lum='if(mod(floor(N/pow(2,floor(X/16))),2),225,30)',format=yuv420p",
                "-f", "lavfi", "-i", "anoisesrc=duration=\(seconds):sample_rate=48000:seed=1",
            ] + arguments + [path])
    }

    /// Copies a file with ffmpeg.
    public static func copy(_ path: String, _ arguments: [String], to target: String) async throws {
        try await Tool.check(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-map", "0", "-c", "copy"] + arguments
                + [target])
    }

    /// The numbers of a file's pictures in the order of their presentation.
    public static func numbers(of path: String) async throws -> [Int] {
        try await MediaProbe.luma(of: path, columns: 10).map { blocks in
            blocks.indices.reduce(0) { $0 + (blocks[$1] > 127 ? 1 << $1 : 0) }
        }
    }
}
