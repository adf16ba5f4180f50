/// The version of this library and its command.
public enum MediaBridgeVersion {
    public static let text = "0.1.0"
}
