import Foundation
import MediaBridge

/// A directory for recordings of senders, whose names are not to be trusted.
struct RecordingDirectory {
    let path: String

    /// Creates the directory if there is none.
    func create() throws(PipelineError) {
        var isDirectory: ObjCBool = false
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            isDirectory.boolValue, access(path, W_OK) == 0
        else {
            throw PipelineError(
                .notFound, message: "\(path) is no directory that can be written to",
                advice: "another --record DIR")
        }
    }

    /// A path in the directory that no file has: `NAME-20250131-142536.mkv`.
    func newPath(for user: UserID, at date: Date = Date()) -> String {
        let parts = Calendar.current.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: date)
        func digits(_ value: Int?, _ count: Int) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2)
        let time = digits(parts.hour, 2) + digits(parts.minute, 2) + digits(parts.second, 2)
        let base = "\(path)/\(Self.safe(user.name))-\(day)-\(time)"
        var (candidate, number) = ("\(base).mkv", 2)
        while FileManager.default.fileExists(atPath: candidate) {
            candidate = "\(base)-\(number).mkv"
            number += 1
        }
        return candidate
    }

    /// A name that can stand in a path and in a pipeline string: letters and digits of ASCII, `-`, `_`.
    static func safe(_ name: String) -> String {
        let scalars = name.unicodeScalars.prefix(64).map { scalar -> Character in
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain || scalar == "-" || scalar == "_" ? Character(scalar) : "_"
        }
        return scalars.isEmpty ? "sender" : String(scalars)
    }
}
