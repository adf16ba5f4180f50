import MediaBridge
import TestSupport

/// A deviation in the result of a capture.
struct Complaint: Sendable, CustomStringConvertible {
    /// The kind of broken promise, which shrinking must preserve.
    enum Kind: String, Sendable {
        case crash, hang, failed, unreadable, complaint, balance, count, order, size, time, sound
    }
    var kind: Kind
    var text: String
    var description: String { "\(kind.rawValue): \(text)" }
}

/// Compares the files of a capture with the offered frames.
struct Verdict: Sendable {
    private(set) var complaints: [Complaint] = []
    let capture: MutatedCapture
    let outcome: Outcome
    let expected: Expectation

    init(on outcome: Outcome, of capture: MutatedCapture) async throws {
        self.capture = capture
        self.outcome = outcome
        expected = Expectation(of: capture, outcome.dispositions)
        for failure in outcome.failures { complain(.failed, String(failure.prefix(600))) }
        judgeCounts()
        var files: [DecodedFile] = []
        for file in outcome.files { files.append(try await DecodedFile(of: file.path)) }
        for (file, decoded) in zip(outcome.files, files) { judge(file, decoded) }
        guard complaints.isEmpty else { return }
        let seen = files.filter(\.hasPictures)
        let luma = try await DecodedFile.lumaInTheMiddle(of: seen.map(\.path))
        judgePictures(zip(seen, luma).map { ($0.0, $0.1) })
        if capture.hasSound { judgeSound(files) }
    }

    mutating func complain(_ kind: Complaint.Kind, _ text: String) {
        complaints.append(Complaint(kind: kind, text: text))
    }

    // MARK: Counts

    private mutating func judgeCounts() {
        let counts = outcome.pictures
        if outcome.files.isEmpty { complain(.count, "there is no file") }
        if counts.offered + counts.repeated != counts.written + counts.dropped.total {
            complain(
                .balance,
                "offered \(counts.offered) and repeated \(counts.repeated) are not written "
                    + "\(counts.written) and dropped \(counts.dropped)")
        }
        if outcome.droppedBefore.total > 0 {
            complain(.count, "the capture dropped \(outcome.droppedBefore)")
        }
        if !capture.way.isEngine, counts.dropped != expected.refused {
            complain(.count, "dropped \(counts.dropped), and not \(expected.refused)")
        }
        if counts.written != expected.pictures.count + counts.repeated {
            complain(
                .count,
                "\(counts.written) written, and \(expected.pictures.count) taken, "
                    + "\(counts.repeated) repeated")
        }
        for (number, disposition) in (outcome.dispositions ?? []).enumerated()
        where !disposition.isAccepted && !expected.mayBeRefused.contains(number) {
            complain(.count, "picture \(number) was refused: \(disposition)")
        }
        judgeSoundDrops()
    }

    private mutating func judge(_ file: Outcome.File, _ decoded: DecodedFile) {
        let name = file.path.split(separator: "/").last ?? ""
        guard !decoded.streams.isEmpty else {
            return complain(
                .unreadable, "\(name): \(decoded.complaints.joined(separator: "; ").prefix(300))")
        }
        if let first = decoded.complaints.first {
            complain(.complaint, "\(name): ffprobe says \(first) (\(decoded.complaints.count))")
        }
        if !file.isComplete { complain(.failed, "\(name) is not complete") }
        if let count = file.pictures, count != decoded.pictures.count {
            complain(.count, "\(name): \(decoded.pictures.count) pictures of \(count)")
        }
    }

    // MARK: Pictures

    private mutating func judgePictures(_ files: [(DecodedFile, [UInt8])]) {
        var next = 0
        var repeats = outcome.pictures.repeated
        for (file, luma) in files {
            let name = file.path.split(separator: "/").last ?? ""
            guard luma.count == file.pictures.count else {
                return complain(
                    .count, "\(name): ffmpeg shows \(luma.count) of \(file.pictures.count)")
            }
            // The latest point where the file's time and the capture's time are known to match.
            var anchor: (file: Double, capture: Double)?
            var last = -Double.infinity
            for (picture, luma) in zip(file.pictures, luma) {
                guard let time = picture.time else {
                    return complain(.time, "\(name): a picture without a time")
                }
                if time < last { return complain(.time, "\(name): \(time) after \(last)") }
                last = time
                guard next < expected.pictures.count else {
                    if repeats > 0 {
                        repeats -= 1
                        continue
                    }
                    return complain(.order, "\(name): more pictures than were taken")
                }
                let wanted = expected.pictures[next]
                let shade = OfferedPicture.shade(luma)
                let due = anchor.flatMap { at in wanted.time.map { at.file + $0 - at.capture } }
                    .flatMap { wanted.isAnchor ? nil : $0 }
                let isLate = due.map { abs($0 - time) > Self.tolerance } ?? false
                if shade != wanted.shade || isLate {
                    // A repeated frame equals the one before it.
                    if repeats > 0, next > 0 {
                        repeats -= 1
                        continue
                    }
                    let what = "\(name): picture \(next) of those taken"
                    if shade != wanted.shade {
                        return complain(
                            .order,
                            "\(what), at \(time), is of shade \(shade) (\(luma)), "
                                + "and not \(wanted.shade)")
                    }
                    return complain(.time, "\(what) is at \(time), and not at \(due ?? 0)")
                }
                if picture.width != wanted.width || picture.height != wanted.height {
                    return complain(
                        .size,
                        "\(name): picture \(next) is \(picture.width)x\(picture.height), "
                            + "and not \(wanted.width)x\(wanted.height)")
                }
                if anchor == nil || wanted.isAnchor {
                    anchor = wanted.time.map { (time, $0) }
                }
                next += 1
            }
        }
        if next < expected.pictures.count {
            complain(.order, "\(next) pictures in the files, \(expected.pictures.count) taken")
        }
    }

    /// Tolerance of timestamps, in seconds: Matroska rounds to milliseconds, at both ends.
    static let tolerance = 0.0021
}
