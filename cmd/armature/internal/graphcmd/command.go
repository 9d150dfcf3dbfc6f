// Package graphcmd is "armature graph": a flow as a picture, coloured by how far its nodes are.
package graphcmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/complete"
)

var formats = map[string]func(io.Writer, graph) error{"svg": writeSVG, "dot": writeDot, "mermaid": writeMermaid}

// New returns the command.
func New() *cobra.Command {
	kube := genericclioptions.NewConfigFlags(true)
	find := genericclioptions.NewResourceBuilderFlags().WithFile(false, nil).WithLocal(false).WithLatest()
	find.FileNameFlags.Usage = "Files with the flow."
	format := "svg"
	cmd := &cobra.Command{
		Use:   "graph (jobflow/NAME | -f FILENAME [--local])",
		Short: "Draw a flow, coloured by state",
		Long: `Draw a flow as SVG, or print it for Graphviz or Mermaid. The colour of a node shows its state: green has succeeded, red has failed,
blue runs, grey was skipped, white waits. Nodes of finally have a dashed border.

With --local the command draws the flow in a file, without a cluster.`,
		Example: "  armature graph jobflow/nightly > nightly.svg\n  armature graph -f flow.yaml --local -o mermaid",
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := formats[format]
			if !ok {
				return fmt.Errorf("--output: %q; want %s", format, strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
			}
			flows, err := flowsIn(find.ToBuilder(kube, args).Do())
			if err != nil {
				return err
			}
			if len(flows) != 1 {
				return fmt.Errorf("found %d flows; name one", len(flows))
			}
			return write(cmd.OutOrStdout(), newGraph(flows[0]))
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow")
	kube.AddFlags(cmd.Flags())
	find.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("local").Usage = "draw the flow in the file, without a cluster"
	cmd.Flags().StringVarP(&format, "output", "o", format, "`format`: svg, dot (of Graphviz) or mermaid")
	return cmd
}

// notObject matches what the library says of a document that is a list or a plain value.
var notObject = regexp.MustCompile(`json: cannot unmarshal (\w+) into Go value of type unstructured\.detector`)

// flowsIn returns the flows among some objects: files may have templates beside them.
func flowsIn(found resource.Visitor) ([]*v1alpha1.JobFlow, error) {
	var flows []*v1alpha1.JobFlow
	var others []string
	err := found.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		u, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected type %T", info.Object)
		}
		if u.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("JobFlow") {
			others = append(others, u.GetKind()+"/"+u.GetName())
			return nil
		}
		flow := &v1alpha1.JobFlow{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, flow); err != nil {
			return fmt.Errorf("jobflow %s: %w", u.GetName(), err)
		}
		flows = append(flows, flow)
		return nil
	})
	if err != nil && notObject.MatchString(err.Error()) {
		err = errors.New(notObject.ReplaceAllString(err.Error(), "want an object, which has apiVersion and kind, found: $1"))
	}
	if err == nil && len(flows) == 0 {
		err = errors.New("no JobFlow found")
		if len(others) > 0 {
			err = fmt.Errorf("%s can't be drawn: want a JobFlow of %s", strings.Join(others, ", "), v1alpha1.GroupVersion)
		}
	}
	return flows, err
}
