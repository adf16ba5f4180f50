internal import Glibc

/// A terminal that a program creates for another.
public enum PseudoTerminal {
    /// Whether the system can create one. It cannot without `/dev/pts`, as in some chroots and
    /// containers.
    public static let isAvailable: Bool = {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }()
}
