package frame

// memberKeys is what stands in front of each member's value.
var memberKeys = func() (keys [members]string) {
	for m, name := range memberNames {
		keys[m] = `,"` + name + `":`
	}
	return keys
}()

// These members have few values, and are written as one text with them; side, direction and kind, which follow each other, together.
var (
	phaseWords = wordsOf(mPhase, phaseNames[:])
	kindWords  = func() (words [len(sideNames)][len(dirNames)][len(kindNames)]string) {
		for s, side := range wordsOf(mSide, sideNames[:]) {
			for d, dir := range wordsOf(mDir, dirNames[:]) {
				for k, kind := range wordsOf(mKind, kindNames[:]) {
					words[s][d][k] = side + dir + kind
				}
			}
		}
		return words
	}()
)

// wordsOf is the member with each of the names as its value; nothing for the first name, which is none.
func wordsOf(m member, names []string) []string {
	words := make([]string, len(names))
	for i, name := range names[1:] {
		words[i+1] = memberKeys[m] + `"` + name + `"`
	}
	return words
}
