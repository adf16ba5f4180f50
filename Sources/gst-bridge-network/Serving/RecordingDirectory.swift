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
                .notFound, message: "\(path) is not a writable directory",
                advice: "another --record DIR")
        }
    }

    /// The path of a recording that begins now: `NAME-20250131-142536.mkv`. There may be such a file.
    func path(for user: UserID) -> String {
        let parts = Calendar.current.dateComponents(
            [.year, .month, .day, .hour, .minute, .second], from: Date())
        func digits(_ value: Int?, _ count: Int) -> String {
            let text = String(value ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2)
        let time = digits(parts.hour, 2) + digits(parts.minute, 2) + digits(parts.second, 2)
        return "\(path)/\(Self.safe(user.name))-\(day)-\(time).mkv"
    }

    /// A name that can stand in a path and in a pipeline string: the letters and digits of all scripts, `-` and
    /// `_`, in at most 160 bytes. Other characters become `_`, so that several names may become the same.
    static func safe(_ name: String) -> String {
        var safe = ""
        for character in name.precomposedStringWithCanonicalMapping {
            let isPlain = character.isLetter || character.isNumber || "-_".contains(character)
            safe.append(isPlain ? character : "_")
            if safe.utf8.count > 160 { break }
        }
        while safe.utf8.count > 160 { safe.removeLast() }
        return safe.isEmpty ? "sender" : safe
    }
}
