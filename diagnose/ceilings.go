package diagnose

import "fmt"

// Ceiling is a limit on the size of a line or a body that some reader is known to have.
type Ceiling struct {
	Bytes int64
	Of    string
}

// Ceilings lists the known ones, ascending (MCP SDKs and the libraries under them).
func Ceilings() []Ceiling {
	return []Ceiling{
		{4096, "a pty line, a hand-written buffer"}, {8192, "a stdio buffer"}, {16_384, "a hand-written line buffer"},
		{65_536, "asyncio readline, bufio.Scanner"}, {102_400, "express.json"}, {262_144, "Spring WebClient"},
		{1_048_576, "httpx2 per SSE event, nginx body, Go SDK 0.1–1.3 SSE line"}, {4_194_304, "request bodies of most SDKs, Ruby and PHP lines"},
		{8_388_608, "PHP SSE buffer, Codex stdio"}, {10_485_760, "TypeScript SDK read buffer"}, {16_777_216, "Go 1.8, Kotlin, Java, Rust"},
	}
}

// within lists the known ceilings that separate sizes up to passed from sizes from lost on.
func within(passed, lost int64) []Ceiling {
	var fits []Ceiling
	for _, c := range Ceilings() {
		if c.Bytes >= passed && c.Bytes < lost {
			fits = append(fits, c)
		}
	}
	return fits
}

// bracket says where a ceiling lies, and which known ones fit.
func bracket(passed, lost int64) string {
	if passed <= 0 {
		s := fmt.Sprintf("it has %s, and no answer was read to compare it with", size(lost))
		if fits := within(0, lost); len(fits) > 0 {
			last := fits[len(fits)-1]
			s += fmt.Sprintf("; the known ceiling next below is %s (%s)", size(last.Bytes), last.Of)
		}
		return s
	}
	s := fmt.Sprintf("everything up to %s was read, everything from %s was not", size(passed), size(lost))
	if fits := within(passed, lost); len(fits) > 0 {
		s += "; between them lies "
		for i, c := range fits {
			if i > 0 {
				s += ", "
			}
			s += fmt.Sprintf("%s (%s)", size(c.Bytes), c.Of)
			if i == 2 && len(fits) > 3 {
				return s + ", …"
			}
		}
	}
	return s
}

// multipleOf finds the largest known ceiling of which n is a multiple.
func multipleOf(n int64) (Ceiling, bool) {
	all := Ceilings()
	for i := len(all) - 1; i >= 0; i-- {
		if n > 0 && n%all[i].Bytes == 0 {
			return all[i], true
		}
	}
	return Ceiling{}, false
}
