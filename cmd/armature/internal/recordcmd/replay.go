package recordcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/input"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// exitDiffers is the exit code for plans that differ.
const exitDiffers = 2

func newReplay() *cobra.Command {
	format := output.New("json", "yaml")
	var step bool
	var test string
	number := 0
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Run the plans of recorded passes again, and show the differences",
		Long: `Run the plans of recorded passes again with this version of armature, and show the fields that differ from the recorded
plans. FILE is the output of armature record; - is standard input. The command uses no cluster.

To find the version that changed a decision, replay the same file with each version. The exit code is 0 if all plans are the same, 2 if
one differs, and 1 after an error. A pass that failed before its plan has nothing to compare; it is an error if all passes did.

--step instead shows the view, the plan and the decision of each recorded pass. --to-test writes a Go test of one pass: by default the
last one, or the one of --pass. The test fails if the plan is invalid, or differs from the recorded plan.`,
		Example: "  armature replay nightly.json\n  armature replay nightly.json --step\n" +
			"  armature replay nightly.json --to-test nightly_test.go",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			list, err := readFile(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			if number < 0 || number > len(list.Items) {
				return fmt.Errorf("--pass is %d; accepted are 1 to %d, the passes in %s", number, len(list.Items), args[0])
			}
			if number > 0 {
				list.Items = list.Items[number-1 : number]
			}
			switch {
			case test != "":
				if err := writeTest(&list.Items[len(list.Items)-1], test); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.ErrOrStderr(), "Go test in %s\n", test)
				return err
			case step:
				return list.WriteText(cmd.OutOrStdout())
			}
			return replay(list, cmd.OutOrStdout(), format)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&step, "step", false, "show the view, the plan and the decision of each pass, and replay nothing")
	f.StringVar(&test, "to-test", "", "`file` for a Go test of a pass, instead of a replay")
	f.IntVar(&number, "pass", 0, "`number` of the only pass to use, 1 for the oldest (default: all)")
	format.AddTo(f)
	cmd.MarkFlagsMutuallyExclusive("step", "to-test", "output") // the format is that of a replay
	return cmd
}

// readFile reads a file that has passes.
func readFile(file string, stdin io.Reader) (*record.List, error) {
	from, err := input.Open(file, stdin)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	list, err := record.Read(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("%s has no passes", file)
	}
	return list, nil
}

// outcome is the outcome of the replay of one pass, as JSON.
type outcome struct {
	Owner string `json:"owner"`
	Time  string `json:"time"`
	// Differences are null if the pass can't be replayed, and empty for the same plan.
	Differences []record.Difference `json:"differences"`
	// Error is why the pass can't be replayed.
	Error string `json:"error,omitempty"`
}

// replay replays all passes and shows their differences.
func replay(list *record.List, out io.Writer, format *output.Flag) error {
	scheme := newScheme()
	var all []outcome
	var text strings.Builder
	compared, differ := 0, 0
	var errs []error
	for i := range list.Items {
		pass := &list.Items[i]
		number := "" // the only pass may be any pass of the file
		if len(list.Items) > 1 {
			fmt.Fprintf(&text, "pass %d of %d: ", i+1, len(list.Items))
			number = fmt.Sprintf("pass %d: ", i+1)
		}
		fmt.Fprintf(&text, "%s: ", pass.OwnerName())
		o := outcome{Owner: pass.OwnerName(), Time: pass.View.Time.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")}
		replayed, err := replayOne(scheme, pass)
		switch {
		case pass.Plan == nil && pass.PlanError == "":
			o.Error = "it failed before its plan: " + pass.Error
			fmt.Fprintf(&text, "%s\n", o.Error)
		case err != nil:
			o.Error = err.Error()
			errs = append(errs, fmt.Errorf("%s%s: %w", number, pass.OwnerName(), err))
			fmt.Fprintf(&text, "%s\n", err)
		case len(replayed.Differences) > 0:
			compared++
			differ++
			o.Differences = replayed.Differences
			fmt.Fprintf(&text, "the plan differs\n")
			if err := replayed.WriteText(&text); err != nil {
				return err
			}
		default:
			compared++
			o.Differences = []record.Difference{}
			fmt.Fprintf(&text, "same plan\n")
		}
		all = append(all, o)
	}
	encoded, err := format.Encode(out, all)
	if err == nil && !encoded {
		_, err = io.WriteString(out, text.String())
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	if compared == 0 {
		return errors.New("nothing was compared: no pass has a plan")
	}
	if differ > 0 {
		return &exitcode.Error{Code: exitDiffers}
	}
	return nil
}

func replayOne(scheme *runtime.Scheme, pass *record.Pass) (*record.Replayed, error) {
	op, err := operatorOf(pass)
	if err != nil {
		return nil, err
	}
	return op.replay(scheme, pass)
}

// schemeExpression makes the scheme of the manager in a Go test.
const schemeExpression = `func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	return scheme
}()`

// writeTest writes a Go test of a pass.
func writeTest(pass *record.Pass, file string) error {
	op, err := operatorOf(pass)
	if err != nil {
		return err
	}
	expression := op.expression
	if strings.Contains(expression, "%#v") {
		m, err := queueManager(pass)
		if err != nil {
			return err
		}
		expression = fmt.Sprintf(expression, m)
	}
	imports := append([]string{
		"k8s.io/apimachinery/pkg/runtime", "clientgoscheme k8s.io/client-go/kubernetes/scheme", "v1alpha1 " + module + "api/v1alpha1",
	}, op.imports...)
	test := record.GoTest{Imports: imports, Operator: expression, Scheme: schemeExpression, Pass: pass}
	var text bytes.Buffer // a test that can't be written leaves no file
	if err := test.Write(&text); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user's file
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}

// newScheme returns the scheme of the manager.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		panic(err) // the kinds are fixed
	}
	return scheme
}
