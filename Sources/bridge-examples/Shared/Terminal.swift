import Foundation
import MediaBridge

/// Standard error: what goes on, and complaints.
enum Terminal {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("bridge-examples: \(text.printable)\n".utf8))
    }
}
