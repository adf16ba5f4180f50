/// The version of this library and its command.
public enum MediaBridgeVersion {
    /// The version number as `major.minor.patch`.
    public static let text = "0.1.0"
}
