package dialect

// hosts are the clients that people use, and what each logs of its servers.
func hosts() []*Dialect {
	return []*Dialect{claudeDesktop(), claudeDesktopMeta(), vscode(), claudeCode(), claudeCodeDebug(), cursor(), jetbrains(),
		librechat(), librechatMeta(), zed(), goose(), inspectorExport()}
}

// hostFrame is what a host's frame weighs in detection: its log holds its server's lines too, which may be many more.
const hostFrame = 30

// weights makes a Weight of the test for a dialect's frames, where other lines that it claims count for one.
func weights(isFrame func(line []byte) bool, frame int) func([]byte) int {
	return func(line []byte) int {
		if isFrame(line) {
			return frame
		}
		return 1
	}
}

// fullPayload is what a host's log with whole messages shows.
const fullPayload = Everything

// eventsOnly is what a log of calls without ids shows.
const eventsOnly = Everything &^ (IDs | Sizes | BadLines)
