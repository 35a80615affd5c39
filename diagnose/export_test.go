package diagnose

// Remembered is how many halves a watch remembers.
func Remembered(w *Watch) int { return len(w.known) }
