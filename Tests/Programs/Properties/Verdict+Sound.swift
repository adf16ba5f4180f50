import MediaBridge
import TestSupport

extension Verdict {
    /// Tolerance in seconds of audio: encoder priming and the last block.
    private var slack: Double { 0.07 }

    mutating func judgeSoundDrops() {
        var drops = outcome.soundDrops
        drops[.noTime] -= ExpectedSound(of: capture).untimed
        // A live capture drops audio before its first frame.
        if capture.isLive { drops[.early] = 0 }
        if drops != DropCounts() { complain(.sound, "sound was dropped: \(drops)") }
    }

    mutating func judgeSound(_ files: [DecodedFile]) {
        let wanted = ExpectedSound(of: capture)
        var heard = 0.0
        var breaks = 0
        var parts = 0
        for file in files {
            guard let stream = file.soundStream, let rate = stream.sampleRate, rate > 0 else {
                continue
            }
            parts += 1
            let name = file.path.split(separator: "/").last ?? ""
            var end: Double?
            for block in file.sound {
                guard let time = block.time else {
                    return complain(.sound, "\(name): sound without a time")
                }
                let length = Double(block.samples) / Double(rate)
                if let end {
                    if time < end - 0.025 {
                        return complain(.sound, "\(name): sound at \(time) overlaps that to \(end)")
                    }
                    if time > end + 0.025 { breaks += 1 }
                }
                end = time + length
                heard += length
            }
        }
        if parts == 0 { return complain(.sound, "no file has sound") }
        guard isExact else { return }
        if breaks > wanted.spans.count - 1 {
            complain(.sound, "\(breaks) gaps, and not \(wanted.spans.count - 1)")
        }
        let off = heard - wanted.total
        if abs(off) > slack * Double(parts) {
            complain(.sound, "\(heard) s of sound, and not \(wanted.total)")
        }
    }

    /// Whether the expected audio is exact to the block. It is not for live captures, which continue
    /// when audio is missing, for strings that encode, which keep their gaps, and for engines, which
    /// follow different rules.
    private var isExact: Bool {
        !capture.isLive && !capture.way.hasOneFile && !capture.way.isEngine
    }
}
