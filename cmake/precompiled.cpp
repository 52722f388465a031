// Nothing: it gives the precompiled headers a target.
