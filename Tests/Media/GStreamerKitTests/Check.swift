import Testing

/// `#expect` for conditions on noncopyable values, which the macro cannot decompose.
func check(
    _ condition: Bool, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(condition, comment, sourceLocation: sourceLocation)
}
