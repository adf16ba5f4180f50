internal import Glibc

/// A terminal that a program makes for another.
public enum PseudoTerminal {
    /// Whether the system makes any: not where `/dev/pts` is not mounted, as in some roots and containers.
    public static let isAvailable: Bool = {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }()
}
