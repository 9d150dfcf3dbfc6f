package uicmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The page identifies a kind by its name alone.
func TestKindsOfOtherOperatorsHaveNamesOfTheirOwn(t *testing.T) {
	for kinds, refused := range map[string]string{
		"KV":                            `--kinds: "KV"; accepted is Kind.group, such as KV.example.com`,
		"Job.batch.volcano.sh":          `--kinds: Job.batch.volcano.sh has the name of Job.batch, which the page shows; accepted is a kind of another name`,
		"JobFlow.flow.volcano.sh":       `--kinds: JobFlow.flow.volcano.sh has the name of JobFlow.api.practice.com, which the page shows; accepted is a kind of another name`,
		"PodLog.example.com":            `--kinds: PodLog.example.com has the name of PodLog, which the page shows; accepted is a kind of another name`,
		"KV.example.com,KV.example.com": `--kinds: KV.example.com is given twice`,
		"JobFlow.api.practice.com":      `--kinds: JobFlow.api.practice.com is one of the kinds that the page shows without this flag`,
		"KV.example.com,KV.example.org": `--kinds: KV.example.org has the name of KV.example.com, which the page shows; accepted is a kind of another name`,
	} {
		cmd := New()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs([]string{"--kinds", kinds, "--kubeconfig", t.TempDir() + "/none"})
		assert.EqualError(t, cmd.Execute(), refused)
	}
}
