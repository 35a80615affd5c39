package diagnose

// Cause is one answer to "why", with what shows it.
type Cause struct {
	Name     string
	Found    bool // else a candidate
	Evidence string
	Next     string
}

// Status is the word for how sure a cause is.
func (c Cause) Status() string {
	if c.Found {
		return "found"
	}
	return "candidate"
}
