package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is what the build knows of itself: the module's version, or the revision that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if revision := setting(info, "vcs.revision"); revision != "" && (v == "" || v == "(devel)") {
		v = revision[:min(12, len(revision))]
	}
	return v
}

// versionLine is what --version prints: the version, the revision and its date, and what it was built with.
func versionLine() string {
	line := "mcpdiag " + version()
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := setting(info, "vcs.revision"); revision != "" {
			line += fmt.Sprintf(" (%s %s", revision[:min(12, len(revision))], setting(info, "vcs.time"))
			if setting(info, "vcs.modified") == "true" {
				line += ", changed since"
			}
			line += ")"
		}
	}
	return line + fmt.Sprintf(", %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
