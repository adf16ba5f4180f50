/// The timecode track of a QuickTime file: the time of day of its first picture, counted in pictures.
///
/// Source: QuickTime File Format, "Timecode Media" (`tmcd`, `tcmi`, `gmhd`); SMPTE ST 12-1 (drop frame).
struct MovieTimecode {
    /// How long a picture is shown, in units of which there are `timescale` per second.
    private let duration, timescale: UInt32
    /// Pictures per second, rounded.
    private let rate: UInt8
    /// Whether numbers are left out, because there are 1000/1001 times as many pictures.
    private let isDropFrame: Bool
    /// The number of the first picture, counted from midnight.
    let first: UInt32

    /// - Parameters:
    ///   - time: The local time of day of the first picture, in nanoseconds.
    ///   - duration: How long a picture is shown.
    ///   - timescale: Units of it per second.
    /// - Returns: `nil` for a frame rate below 1 or above 255 pictures per second.
    init?(at time: Int64, duration: UInt32, timescale: UInt32) {
        guard duration > 0 else { return nil }
        let exact = Double(timescale) / Double(duration)
        guard exact > 0.99, exact < 255.5 else { return nil }
        let rate = Int64(exact.rounded())
        (self.duration, self.timescale, self.rate) = (duration, timescale, UInt8(rate))
        isDropFrame = rate % 30 == 0 && abs(exact * 1.001 - Double(rate)) < 0.001
        let seconds = time / 1_000_000_000
        var picture = time % 1_000_000_000 * rate / 1_000_000_000
        guard isDropFrame else {
            first = UInt32(clamping: seconds * rate + picture)
            return
        }
        // At the beginning of each minute but every tenth, the first numbers are left out.
        let (minutes, left) = (seconds / 60, rate / 15)
        if seconds % 60 == 0, minutes % 10 != 0 { picture = max(picture, left) }
        first = UInt32(clamping: seconds * rate + picture - left * (minutes - minutes / 10))
    }

    /// Returns the box that contains the only sample: the number of the first picture.
    var sample: [UInt8] { UInt32(12).bytes + Array("mdat".utf8) + first.bytes }

    /// Returns the track.
    ///
    /// - Parameters:
    ///   - number: The number of the track.
    ///   - created: The two times of the track of pictures, as in its header.
    ///   - span: How long the pictures last, in units of the movie.
    ///   - length: The same in units of `timescale`.
    ///   - edits: The edit list of the pictures' beginning.
    ///   - place: The offset of the sample in the file.
    func track(
        _ number: UInt32, created: [UInt8], span: UInt64, length: UInt64, edits: MovieBytes,
        sampleAt place: Int
    ) -> MovieBytes {
        let unity: [UInt32] = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30]
        return MovieBytes(box: "trak") {
            $0 += MovieBytes(box: "tkhd") {
                // In the movie, and not shown.
                $0 +=
                    [0, 0, 0, 2] + created + [number, 0, UInt32(clamping: span), 0, 0, 0, 0].bytes
                $0 += unity.bytes + [UInt32(0), 0].bytes
            }
            $0 += edits
            $0 += MovieBytes(box: "mdia") {
                $0 += MovieBytes(box: "mdhd") {
                    $0 += [0, 0, 0, 0] + created + [timescale, UInt32(clamping: length), 0].bytes
                }
                $0 += Self.handler("mhlr", "tmcd", "Timecode")
                $0 += MovieBytes(box: "minf") {
                    $0 += header(unity)
                    $0 += Self.handler("dhlr", "url ", "Data")
                    $0 += MovieBytes(box: "dinf") {
                        $0 += MovieBytes(box: "dref") {
                            $0 += [UInt32(0), 1, 12].bytes + "url ".utf8 + [0, 0, 0, 1]
                        }
                    }
                    $0 += table(length, place)
                }
            }
        }
    }

    private func header(_ unity: [UInt32]) -> MovieBytes {
        MovieBytes(box: "gmhd") {
            $0 += MovieBytes(box: "gmin") {
                $0 += [UInt16(0), 0, 0x40, 0x8000, 0x8000, 0x8000, 0, 0].bytes
            }
            $0 += MovieBytes(box: "text") { $0 += unity.bytes }
            $0 += MovieBytes(box: "tmcd") {
                $0 += MovieBytes(box: "tcmi") {
                    // The size of the letters, and white behind black ones.
                    $0 += [UInt16(0), 0, 0, 0, 12, 0, 0, 0, 0, 0xffff, 0xffff, 0xffff].bytes
                    $0 += [13] + "Lucida Grande".utf8
                }
            }
        }
    }

    private func table(_ length: UInt64, _ place: Int) -> MovieBytes {
        MovieBytes(box: "stbl") {
            $0 += MovieBytes(box: "stsd") {
                $0 += [UInt32(0), 1].bytes
                $0 += MovieBytes(box: "tmcd") {
                    $0 += [UInt32(0), 1, 0, isDropFrame ? 1 : 0, timescale, duration].bytes
                    $0 += [rate, 0, 0, 0]
                }
            }
            $0 += MovieBytes(box: "stts") {
                $0 += [UInt32(0), 1, 1, UInt32(clamping: length)].bytes
            }
            $0 += MovieBytes(box: "stsc") { $0 += [UInt32(0), 1, 1, 1, 1].bytes }
            $0 += MovieBytes(box: "stsz") { $0 += [UInt32(0), 4, 1].bytes }
            $0 += MovieBytes(box: "co64") { $0 += [UInt32(0), 1].bytes + UInt64(place).bytes }
        }
    }

    private static func handler(_ kind: String, _ type: String, _ name: String) -> MovieBytes {
        MovieBytes(box: "hdlr") {
            $0 += [0, 0, 0, 0] + kind.utf8 + type.utf8 + [UInt32(0), 0, 0].bytes
            $0 += [UInt8(name.utf8.count)] + name.utf8
        }
    }
}
