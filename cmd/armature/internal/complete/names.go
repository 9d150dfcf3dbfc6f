// Package complete has shells complete the names of objects, by asking the cluster.
package complete

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// timeout bounds the time that a shell waits for the cluster.
const timeout = "3s"

// Names completes KIND/NAME, and NAME after KIND, for objects of these kinds: singular names, such as jobflow. A cluster that
// can't be reached has no names, and no error disturbs the line that is being typed.
func Names(kube *genericclioptions.ConfigFlags, kinds ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list := func(kind string) []string { return names(kube, kind) }
		return complete(list, kinds, args, toComplete)
	}
}

// Plain completes one NAME, of objects of a kind.
func Plain(kube *genericclioptions.ConfigFlags, kind string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(func(kind string) []string { return names(kube, kind) }, nil, []string{kind}, toComplete)
	}
}

func complete(list func(kind string) []string, kinds, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	add := func(prefix string, all []string) {
		for _, name := range all {
			if strings.HasPrefix(prefix+name, toComplete) {
				found = append(found, prefix+name)
			}
		}
	}
	kind, _, slash := strings.Cut(toComplete, "/")
	switch {
	case slash:
		add(kind+"/", list(kind))
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		add("", list(args[0]))
	case len(kinds) == 1:
		add(kinds[0]+"/", list(kinds[0]))
	default:
		for _, kind := range kinds {
			add("", []string{kind + "/"})
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// names lists the names of a kind's objects, as far as the API server answers before the user stops waiting.
func names(kube *genericclioptions.ConfigFlags, kind string) []string {
	*kube.Timeout = timeout
	return connect.Names(kube, kind)
}
