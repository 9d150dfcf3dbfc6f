package minicluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The examples with a limit of cpu ask Flux for what it believes the nodes to have. It refuses what doesn't fit.
func TestTheJobsOfTheExamplesFit(t *testing.T) {
	var files []string
	for _, dir := range []string{"minicluster", "flux"} {
		found, err := filepath.Glob("../../examples/" + dir + "/*.yaml")
		require.NoError(t, err)
		files = append(files, found...)
	}
	lines := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			c := exampleOf(t, document)
			if c == nil {
				continue
			}
			c.Name = "demo"
			assert.Empty(t, validate(c), file)
			if modeOf(c) != modeBatch || cores(c) == 0 {
				continue
			}
			for _, line := range batchLines(c.Spec.Containers[0].Command) {
				nodes, tasks := flagOf(t, line, "-N", 1), flagOf(t, line, "-n", 1)
				assert.LessOrEqual(t, nodes, int64(size(c)), "%s: %s", file, line)
				assert.LessOrEqual(t, tasks, nodes*cores(c), "%s: %s", file, line)
				lines++
			}
		}
	}
	assert.GreaterOrEqual(t, lines, 6)
}

// exampleOf returns the MiniCluster of a manifest, or that of its FluxJob, nil for other kinds.
func exampleOf(t *testing.T, document string) *v1alpha1.MiniCluster {
	c, job := &v1alpha1.MiniCluster{}, &v1alpha1.FluxJob{}
	require.NoError(t, yaml.Unmarshal([]byte(document), c))
	switch c.Kind {
	case "MiniCluster":
		return c
	case "FluxJob":
		require.NoError(t, yaml.Unmarshal([]byte(document), job))
		if job.Spec.MiniCluster == nil {
			return nil
		}
		c.Spec = *job.Spec.MiniCluster
		if job.Spec.Size != nil {
			c.Spec.Size = *job.Spec.Size
		}
		return c
	}
	return nil
}

// flagOf returns the value of a flag of a line, or another if it isn't there.
func flagOf(t *testing.T, line, name string, otherwise int64) int64 {
	words := strings.Fields(line)
	for i, word := range words[:len(words)-1] {
		if word == name {
			n, err := strconv.ParseInt(words[i+1], 10, 64)
			require.NoError(t, err)
			return n
		}
	}
	return otherwise
}
