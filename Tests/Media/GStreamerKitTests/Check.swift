import Testing

/// `#expect` for conditions on values that cannot be copied, which the macro cannot take apart.
func check(
    _ condition: Bool, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(condition, comment, sourceLocation: sourceLocation)
}
