import Testing

/// One after the other: each test runs programs that fill the machine, and some have ten seconds to
/// say what is wrong.
@Suite(.serialized) enum CommandTests {}

/// What is told while a run goes, and how it ends: most of it is waiting. One after the other as well, beside
/// the others.
@Suite(.serialized) enum RunEndTests {}
