package build

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheDigestIsThatOfTheProgramAndItsArguments(t *testing.T) {
	of := func(content string, args ...string) string {
		d, err := digest(func() (string, error) { return content, nil }, args)
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, of("a", "-x", "-y"), of("a", "-x", "-y"))
	assert.Len(t, of("a"), 64)
	assert.NotEqual(t, of("a", "-x"), of("b", "-x"))
	assert.NotEqual(t, of("a", "-x"), of("a", "-y"))
	assert.NotEqual(t, of("a", "-x", "-y"), of("a", "-x-y"))

	failed := errors.New("no executable")
	d, err := digest(func() (string, error) { return "", failed }, nil)
	assert.Equal(t, failed, err)
	assert.Empty(t, d, "without a digest all programs would count as the same")

	content, err := Executable()
	require.NoError(t, err)
	whole, err := Digest(os.Args[1:])
	require.NoError(t, err)
	assert.Equal(t, of(content, os.Args[1:]...), whole)
}

func TestTheDigestOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	_, err := ofFile(file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("abc"), 0o600))
	d, err := ofFile(file)
	require.NoError(t, err)
	assert.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", d, "of RFC 6234")
	_, err = ofFile(filepath.Dir(file))
	require.ErrorContains(t, err, "is a directory")
}
