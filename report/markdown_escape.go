package report

import (
	"fmt"
	"strings"

	"mcpdiag/ingest/frame"
)

// code sets a text from a log in code type. Plain words stand between backticks. Anything else becomes an HTML code element in
// which every character that is no letter or digit is a numeric reference, so that nothing in it is Markdown: a pipe would end
// a table's cell even between backticks, and a backtick the code.
func code(s string) string {
	if s = frame.Escape(s); s == "" {
		return ""
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plainInCode(r) }) < 0 && strings.TrimSpace(s) == s {
		return "`" + s + "`"
	}
	return "<code>" + references(s, alphanumeric) + "</code>"
}

func plainInCode(r rune) bool { return alphanumeric(r) || strings.ContainsRune(" _./:-,()\"+=%#$@", r) }

func alphanumeric(r rune) bool {
	return r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9')
}

// references spells every character that is not kept as a numeric reference.
func references(s string, kept func(rune) bool) string {
	var b strings.Builder
	for _, r := range s {
		if kept(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String()
}

// prose sets a sentence of ours that may quote a log. What Markdown or a forge would act on is spelt as a reference; "@" and
// "#", which forges look for in the finished text, as code, where they do not look.
func prose(s string) string {
	var b strings.Builder
	text := frame.Escape(s)
	for i, r := range text {
		switch {
		case r == '_' && inWord(text, i):
			b.WriteRune(r)
		case strings.ContainsRune("@#$", r):
			fmt.Fprintf(&b, "`%c`", r)
		case strings.ContainsRune("&<>|`*_[]!~\\{}", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return unlinked.Replace(b.String())
}

// inWord reports whether the character at i stands between letters or digits, where an underscore emphasises nothing.
func inWord(s string, i int) bool {
	return i > 0 && i+1 < len(s) && alphanumeric(rune(s[i-1])) && alphanumeric(rune(s[i+1]))
}

// unlinked keeps forges from making links of what looks like an address.
var unlinked = strings.NewReplacer("://", "&#58;//", "www.", "www&#46;")

// mermaid sets a text in a Mermaid diagram: there a line, a semicolon, a number sign, an arrow or a brace may mean something, and
// a reference without its ampersand is how a character is spelt. Every label begins with a word of ours.
func mermaid(s string) string {
	return strings.ReplaceAll(references(frame.Escape(s), func(r rune) bool { return alphanumeric(r) || strings.ContainsRune(" _.,()/:+=", r) }), "&#", "#")
}
