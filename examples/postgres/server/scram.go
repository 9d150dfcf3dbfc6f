package server

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// PostgreSQL stores the verifier of a password, by which it recognises the password, and from which nobody gets it back: RFC 5803. Like
// psql's \password, the operator computes it here. So the password is in no SQL statement, and in no log of the server.

const iterations = 4096

// newVerifier returns a verifier of a password.
func newVerifier(password string) (string, error) {
	if password == "" {
		return "", errors.New("the password is empty")
	}
	// Others would have to be normalized as a client does it.
	if i := strings.IndexFunc(password, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		return "", fmt.Errorf("the password's character %d is not printable ASCII", i+1)
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	return verifier(password, salt, iterations)
}

// isVerified reports whether a verifier is of a password.
func isVerified(password, of string) bool {
	var n int
	var salt string
	rest, ok := strings.CutPrefix(of, "SCRAM-SHA-256$")
	if !ok {
		return false // none, or one of the older MD5
	}
	if _, err := fmt.Sscanf(strings.NewReplacer(":", " ", "$", " ").Replace(rest), "%d %s", &n, &salt); err != nil {
		return false
	}
	raw, err := base64.StdEncoding.DecodeString(salt)
	if err != nil {
		return false
	}
	same, err := verifier(password, raw, n)
	return err == nil && hmac.Equal([]byte(same), []byte(of))
}

func verifier(password string, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	base := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, base(salt), base(stored[:]), base(mac(salted, "Server Key"))), nil
}

func mac(key []byte, message string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(message))
	return h.Sum(nil)
}
