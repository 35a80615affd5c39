// Package build says what the build knows of itself.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is the module version, else the revision.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if revision := setting(info, "vcs.revision"); revision != "" && (v == "" || v == "(devel)") {
		v = short(revision)
	}
	return v
}

// Line is what a program's --version prints: the version, the revision and its date, and what it was built with.
func Line(program string) string {
	line := program + " " + Version()
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := setting(info, "vcs.revision"); revision != "" {
			line += fmt.Sprintf(" (%s %s", short(revision), setting(info, "vcs.time"))
			if setting(info, "vcs.modified") == "true" {
				line += ", changed since"
			}
			line += ")"
		}
	}
	return line + fmt.Sprintf(", %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func short(revision string) string { return revision[:min(12, len(revision))] }

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
