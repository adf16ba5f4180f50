import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// The effect of `--filter` on pixels.
    @Suite(.hangGuard) struct FilterTests {
        /// A format, its bytes of luma for each pixel, and the neutral value of its chroma.
        struct Format: CustomTestStringConvertible, Sendable {
            let name: String
            var lumaBytes = 1
            var neutral: [UInt8] = [128]
            var testDescription: String { name }
        }

        @Test(
            arguments: [
                Format(name: "I420"), Format(name: "YV12"), Format(name: "NV12"),
                Format(name: "NV21"),
                Format(name: "Y42B"), Format(name: "Y444"),
                Format(name: "I420_10LE", lumaBytes: 2, neutral: [0, 2]),
                Format(name: "P010_10LE", lumaBytes: 2, neutral: [0, 128]),
            ])
        func grayscaleKeepsTheLumaAndMakesTheChromaNeutral(format: Format) async throws {
            try await withTemporaryDirectory { directory in
                // Planes of this size and of half this size need no padding.
                let (width, height) = (64, 48)
                let pictures = try await RawPictures(
                    format.name, width: width, height: height, frames: 2, in: directory)
                let result = try await filtered(pictures, "grayscale", in: directory)
                #expect(result.count == pictures.bytes.count)
                let size = result.count / 2
                let luma = width * height * format.lumaBytes
                for start in [0, size] {
                    #expect(
                        result[start..<start + luma] == pictures.bytes[start..<start + luma])
                    let chroma = result[start + luma..<start + size]
                    #expect(
                        chroma.enumerated().allSatisfy {
                            $1 == format.neutral[$0 % format.neutral.count]
                        })
                }
            }
        }

        @Test func filterAppliesOnlyToTheNamedStream() async throws {
            try await withTemporaryDirectory { directory in
                let pictures =
                    "videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=64,height=48 "
                let files = ["left", "right"].map { directory.file($0) }
                let ended = try await GstBridge.run(
                    capture: "\(pictures) ! appsink name=left \(pictures) ! appsink name=right",
                    outputs: [
                        "appsrc name=left ! filesink location=\(files[0])",
                        "appsrc name=right ! filesink location=\(files[1])",
                    ], ["--filter", "right:mirror"])
                #expect(ended.status == 0, "\(ended.errors)")
                let (left, right) = (try bytes(of: files[0]), try bytes(of: files[1]))
                #expect(left.count == 2 * 64 * 48)
                let mirrored = stride(from: 0, to: left.count, by: 64).flatMap {
                    left[$0..<$0 + 64].reversed()
                }
                #expect(right == mirrored && right != left)
            }
        }

        @Test(arguments: [("I420", 324), ("NV12", 324), ("Y42B", 324), ("Y444", 324)])
        func grayscaleKeepsTheLumaOfOddPictures(format: String, stride: Int) async throws {
            try await withTemporaryDirectory { directory in
                let pictures = try await RawPictures(
                    format, width: 321, height: 241, frames: 1, in: directory)
                let result = try await filtered(pictures, "grayscale", in: directory)
                #expect(result.count == pictures.bytes.count)
                #expect(result.prefix(stride * 241) == pictures.bytes.prefix(stride * 241))
            }
        }

        @Test func grayscaleKeepsTheLumaOfPackedYUV() async throws {
            try await withTemporaryDirectory { directory in
                let pictures = try await RawPictures(
                    "YUY2", width: 64, height: 48, frames: 1, in: directory)
                let result = try await filtered(pictures, "grayscale", in: directory)
                #expect(
                    result.indices.allSatisfy {
                        result[$0] == ($0 % 2 == 0 ? pictures.bytes[$0] : 128)
                    })
            }
        }

        /// The source of each result pixel, for pictures 8 wide and 4 high.
        enum Turn: String, CaseIterable, Sendable {
            case mirror
            case quarter = "rotate=90"
            case half = "rotate=180"
            case threeQuarters = "rotate=270"

            var isUpright: Bool { self == .quarter || self == .threeQuarters }

            func source(x: Int, y: Int) -> (x: Int, y: Int) {
                switch self {
                case .mirror: (7 - x, y)
                case .quarter: (y, 3 - x)
                case .half: (7 - x, 3 - y)
                case .threeQuarters: (7 - y, x)
                }
            }
        }

        @Test(arguments: Turn.allCases, [("GRAY8", 1), ("BGRA", 4)])
        func turnMovesEveryPixel(turn: Turn, format: (name: String, bytes: Int)) async throws {
            try await withTemporaryDirectory { directory in
                let known = (0..<32 * format.bytes).map { UInt8($0) }
                let pictures = try RawPictures(
                    format.name, width: 8, height: 4, bytes: known, in: directory)
                let result = try await filtered(pictures, turn.rawValue, in: directory)
                #expect(result.count == known.count)
                let (width, height) = turn.isUpright ? (4, 8) : (8, 4)
                let expected = (0..<height).flatMap { y in
                    (0..<width).flatMap { x in
                        let from = turn.source(x: x, y: y)
                        return (0..<format.bytes).map {
                            known[(from.y * 8 + from.x) * format.bytes + $0]
                        }
                    }
                }
                #expect(result == expected)
            }
        }

        @Test func filtersRunInTheGivenOrder() async throws {
            try await withTemporaryDirectory { directory in
                let pictures = try RawPictures(
                    "GRAY8", width: 8, height: 4, bytes: (0..<32).map { UInt8($0) }, in: directory)
                let out = directory.file("out.raw")
                let ended = try await GstBridge.run(
                    capture: pictures.capture, outputs: ["filesink location=\(out)"],
                    ["--filter", "rotate=90", "--filter", "mirror"])
                #expect(ended.status == 0, "\(ended.errors)")
                // A rotation followed by a mirror is a transposition.
                #expect(
                    try bytes(of: out) == (0..<8).flatMap { x in (0..<4).map { UInt8($0 * 8 + x) } }
                )
            }
        }

        private func filtered(
            _ pictures: RawPictures, _ filter: String, in directory: TemporaryDirectory
        ) async throws -> [UInt8] {
            let out = directory.file("out.raw")
            let ended = try await GstBridge.run(
                capture: pictures.capture, outputs: ["filesink location=\(out)"],
                ["--filter", filter])
            #expect(ended.status == 0, "\(ended.errors)")
            return try bytes(of: out)
        }
    }
}
