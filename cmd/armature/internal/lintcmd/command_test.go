package lintcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
)

const bad = `apiVersion: api.practice.com/v1alpha1
kind: JobTemplate
metadata: {name: a}
spec: {x: 1, jobTemplate: {template: {spec: {containers: [{name: a, image: b}]}}}}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
`

var good = strings.Replace(strings.Split(bad, "---")[0], "x: 1, ", "", 1)

func TestCommand(t *testing.T) {
	const line = "<stdin>:4:8: JobTemplate/a: spec.x: unknown field\n"
	for name, tt := range map[string]struct {
		args, in  string
		out, errs string
		err       string
	}{
		"findings":           {"-f -", bad, line, "<stdin>:6:1: Secret/s: skipped, since v1 is not of Armature\n1 object checked, 1 finding\n", "exit code 1"},
		"nothing":            {"-f -", strings.Replace(bad, "x: 1, ", "", 1), "", "<stdin>:6:1: Secret/s: skipped, since v1 is not of Armature\n1 object checked, 0 findings\n", ""},
		"unreadable":         {"-f -", bad + "---\na: b: c\n", line, "<stdin>:6:1: Secret/s: skipped, since v1 is not of Armature\n1 object checked, 1 finding\n", "<stdin>:10:1: not YAML: mapping values are not allowed in this context"},
		"json":               {"-f - -o json", bad, "{\n    \"checked\": 1,\n    \"findings\": [\n        {\n            \"file\": \"<stdin>\",\n            \"line\": 4,\n            \"column\": 8,\n            \"kind\": \"JobTemplate\",\n            \"name\": \"a\",\n            \"path\": \"spec.x\",\n            \"message\": \"unknown field\"\n        }\n    ],\n    \"skipped\": [\n        {\n            \"file\": \"<stdin>\",\n            \"line\": 6,\n            \"column\": 1,\n            \"apiVersion\": \"v1\",\n            \"kind\": \"Secret\",\n            \"name\": \"s\"\n        }\n    ]\n}\n", "", "exit code 1"},
		"yaml":               {"-f - -o yaml", good, "checked: 1\nfindings: []\n", "", ""},
		"no object":          {"-f -", "# nothing\n", "", "", "no objects found"},
		"no object, as JSON": {"-f - -o json", "# nothing\n", "{\n    \"checked\": 0,\n    \"findings\": []\n}\n", "", "no objects found"},
		"missing, as YAML":   {"-f /nope/flow.yaml -o yaml", "", "checked: 0\nfindings: []\n", "", "stat /nope/flow.yaml: no such file or directory"},
		"no flag":            {"flow.yaml", "", "", "", `unexpected argument "flow.yaml": name files with -f`},
		"missing":            {"-f /nope/flow.yaml", "", "", "", "stat /nope/flow.yaml: no such file or directory"},
		"no file":            {"", "", "", "", "no files: use -f FILENAME"},
		"no format":          {"-f - -o wide", "", "", "", `--output: "wide"; want json or yaml`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := New()
			var out, errs bytes.Buffer
			cmd.SetArgs(strings.Fields(tt.args))
			cmd.SetIn(strings.NewReader(tt.in))
			cmd.SetOut(&out)
			cmd.SetErr(&errs)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.Execute()
			switch tt.err {
			case "":
				assert.NoError(t, err)
			case "exit code 1":
				code, silent := exitcode.Of(err)
				assert.Equal(t, exitcode.Found, code)
				assert.True(t, silent)
			default:
				assert.EqualError(t, err, tt.err)
			}
			assert.Equal(t, tt.out, out.String())
			assert.Equal(t, tt.errs, errs.String())
		})
	}
}
