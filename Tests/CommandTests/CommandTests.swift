import Testing

/// One after the other: each test runs programs that fill the machine, and some have ten seconds to
/// say what is wrong.
@Suite(.serialized) enum CommandTests {}
