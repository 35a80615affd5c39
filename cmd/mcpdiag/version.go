package main

import "mcpdiag/cmd/internal/build"

func version() string { return build.Version() }

func versionLine() string { return build.Line("mcpdiag") }
