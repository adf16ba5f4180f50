import Foundation
import MediaBridge

/// Prints progress and errors on standard error.
enum Terminal {
    static func say(_ text: String) {
        FileHandle.standardError.write(Data("bridge-examples: \(text.printable)\n".utf8))
    }
}
