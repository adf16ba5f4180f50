import Foundation

/// Standard error: what goes on, and complaints.
enum Terminal {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("bridge-examples: \(text)\n".utf8))
    }
}
