// Empty: the library is only preloaded.
