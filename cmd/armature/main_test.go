package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// No command prints what objects say without having it cleaned.
func TestEachCommandPrintsCleanText(t *testing.T) {
	root := newCommand()
	for _, cmd := range append(root.Commands(), root) {
		assert.IsType(t, &output.Cleaner{}, cmd.OutOrStdout(), cmd.Name())
		assert.IsType(t, &output.Cleaner{}, cmd.ErrOrStderr(), cmd.Name())
	}
}
