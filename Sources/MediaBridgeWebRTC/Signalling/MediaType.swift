/// The type of a body, without its parameters.
struct MediaType: Hashable {
    /// In lower case: `application/sdp`.
    let name: String

    static let sdp = MediaType(name: "application/sdp")
    static let trickle = MediaType(name: "application/trickle-ice-sdpfrag")

    private init(name: String) { self.name = name }

    /// - Parameter field: The value of `Content-Type`.
    /// - Returns: `nil` if there is none.
    init?(_ field: String?) {
        guard let field else { return nil }
        let name = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard !name.isEmpty else { return nil }
        self.name = name
    }
}
