// Nothing is called: the library is preloaded.
