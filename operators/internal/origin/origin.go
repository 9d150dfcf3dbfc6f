package origin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// Digest returns a digest of a spec. It must never change from one release to the next: a child of another digest counts as outdated.
func Digest(spec any) string {
	text, _ := json.Marshal(spec) // types of the API are serializable
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Number returns the number that a label or an annotation has. Default: 0, also for text that isn't a number, and for a negative one.
func Number(set map[string]string, key string) int32 {
	n, err := strconv.ParseInt(set[key], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}
