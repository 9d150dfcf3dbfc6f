package convertcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const workflow = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w}
spec:
  entrypoint: a
  templates:
  - name: a
    container: {image: "busybox:1.28"}
`

const flow = `apiVersion: api.practice.com/v1alpha1
kind: JobFlow
metadata:
  name: w
spec:
  flows:
  - jobTemplate:
      template:
        spec:
          containers:
          - image: busybox:1.28
            name: main
    name: a
`

const cron = "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {name: c}\n"

const impossible = "<stdin>:2:1: CronWorkflow/c: the kind (argoproj.io/v1alpha1) can't be converted; these can: Volcano's JobFlow and " +
	"JobTemplate, Argo's Workflow, JobSet, kubeflow's TrainJob, JAXJob, MPIJob, PaddleJob, PyTorchJob, TFJob, XGBoostJob"

func TestCommand(t *testing.T) {
	for name, tt := range map[string]struct {
		args, in  string
		out, errs string
		err       string
	}{
		"all":      {"-f -", workflow, flow, "", ""},
		"not all":  {"-f -", workflow + "  priority: 3\n", flow, "<stdin>:9:3: Workflow/w: spec.priority: not carried over: it has no counterpart\n", "exit code 2"},
		"not well": {"-f -", strings.Replace(workflow, "name: w", "name: W", 1), strings.Replace(flow, "name: w", "name: W", 1), "<result>:4:3: JobFlow/W: metadata.name: Invalid value: \"W\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n", "exit code 2"},
		"others": {"-f -", workflow + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", flow,
			"<stdin>:10:1: Secret/s: skipped: Secret of v1 is not a workload of argo, jobset, kubeflow, volcano\n", ""},
		"one of Argo CD": {"-f -", "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n---\n" + workflow, flow,
			"<stdin>:1:1: Application/a: skipped: Application of argoproj.io/v1alpha1 is not a workload of argo, jobset, kubeflow, volcano\n", ""},
		"one impossible": {"-f -", cron + "---\n" + workflow, flow, impossible + "\n", "exit code 2"},
		"all impossible": {"-f -", cron, "", "", impossible},
		"only another one": {"-f - --from volcano", workflow, "",
			"<stdin>:1:1: Workflow/w: skipped: Workflow of argoproj.io/v1alpha1 is not a workload of volcano\n", "there is nothing to convert"},
		"no such system": {"-f - --from airflow", workflow, "", "", `--from: "airflow"; want argo, jobset, kubeflow, volcano`},
		"no such format": {"-f - -o wide", workflow, "", "", `--output: "wide"; want yaml or json`},
		"no flag":        {"flow.yaml", "", "", "", `unexpected argument "flow.yaml": name files with -f`},
		"no file":        {"", "", "", "", "no files: use -f FILENAME"},
		"no YAML":        {"-f -", "a: b: c", "", "", "<stdin>:1:1: not YAML: mapping values are not allowed in this context"},
		"json": {"-f - -o json", strings.Replace(workflow, "name: w", "generateName: w-", 1), `{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "api.practice.com/v1alpha1",
            "kind": "JobFlow",
            "metadata": {
                "generateName": "w-"
            },
            "spec": {
                "flows": [
                    {
                        "jobTemplate": {
                            "template": {
                                "spec": {
                                    "containers": [
                                        {
                                            "image": "busybox:1.28",
                                            "name": "main"
                                        }
                                    ]
                                }
                            }
                        },
                        "name": "a"
                    }
                ]
            }
        }
    ],
    "kind": "List"
}
`, "", ""},
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
			if tt.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.err)
			}
			assert.Equal(t, tt.out, out.String())
			assert.Equal(t, tt.errs, errs.String())
		})
	}
}
