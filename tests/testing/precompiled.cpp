// Exists only to hold the precompiled headers that the tests share.
