// Package recordcmd is "armature record", which fetches the passes that a manager has recorded, and "armature replay", which runs their
// plans again.
package recordcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// Port is the port of localhost in the manager's pod that serves the recorded passes.
const Port = 8082

// New returns the commands.
func New() []*cobra.Command { return []*cobra.Command{newRecord(), newReplay()} }

func newRecord() *cobra.Command {
	kube := connect.Flags()
	var file, address, leaseNamespace string
	port := Port
	cmd := &cobra.Command{
		Use:   "record KIND/NAME [-o FILE]",
		Short: "Fetch the recorded passes over an object",
		Long: `Fetch the recorded passes over an object: the last ones that wrote something or failed. The object may be deleted. The file
contains the view, the plan and the writes of each pass, without the values of Secrets: attach it to a bug report, or pass it to armature
replay.

The manager records passes if it runs with --record-bytes. The command finds the leader by its lease, and runs kubectl port-forward to
the leader's pod. So you need kubectl and the permissions to list leases in all namespaces, or in the namespace that
--leader-elect-namespace names, and to get pods and create pods/portforward in the manager's namespace. For a manager outside the
cluster, use --address.`,
		Example: "  armature record jobflow/nightly -o nightly.json\n  armature record jobflow nightly | jq '.items[].error'",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			owner, err := ownerOf(kube, args)
			if err != nil {
				return err
			}
			if address == "" {
				var stop func()
				if address, stop, err = reach(cmd.Context(), kube, leaseNamespace, owner, port); err != nil {
					return err
				}
				defer stop()
			}
			list, err := fetch(cmd.Context(), address, owner)
			if err != nil {
				return err
			}
			return save(list, file, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow", "daemonjob", "replicajob", "fluxjob", "minicluster", "fluxsetup")
	f := cmd.Flags()
	kube.AddFlags(f)
	f.StringVarP(&file, "output", "o", "", "`file` to write (default: standard output)")
	f.StringVar(&address, "address", "", "`host:port` of the manager's --record-bind-address (default: the leader's, by port-forward)")
	f.StringVar(&leaseNamespace, "leader-elect-namespace", "", "`namespace` of the manager's lease (default: all namespaces are searched)")
	f.IntVar(&port, "port", Port, "`port` of the manager's --record-bind-address in its pod")
	return cmd
}

// ownerOf returns the object that "KIND/NAME" or "KIND NAME" names. It may be deleted.
func ownerOf(kube *genericclioptions.ConfigFlags, args []string) (record.Owner, error) {
	kind, name, ok := strings.Cut(strings.Join(args, "/"), "/")
	if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
		return record.Owner{}, fmt.Errorf("want KIND/NAME or KIND NAME, got %q", strings.Join(args, " "))
	}
	mapper, err := kube.ToRESTMapper()
	if err != nil {
		return record.Owner{}, err
	}
	resource, group := schema.ParseResourceArg(strings.ToLower(kind))
	var gvk schema.GroupVersionKind
	if resource != nil {
		gvk, _ = mapper.KindFor(*resource)
	}
	if gvk.Empty() {
		gvk, err = mapper.KindFor(group.WithVersion(""))
		if meta.IsNoMatchError(err) {
			return record.Owner{}, fmt.Errorf("the server doesn't have a resource type %q", kind) // as kubectl says, see connect.Advise
		}
		if err != nil {
			return record.Owner{}, err
		}
	}
	namespace, _, err := kube.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return record.Owner{}, err
	}
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return record.Owner{}, err
	}
	if mapping.Scope.Name() == "root" {
		namespace = ""
	}
	return record.Owner{Kind: gvk.GroupKind().String(), Namespace: namespace, Name: name}, nil
}

// reach returns a local address of the leader that runs the objects of a kind, by its lease in a namespace, or in any if that is empty.
func reach(ctx context.Context, kube *genericclioptions.ConfigFlags, leaseNamespace string, owner record.Owner, port int) (
	address string, stop func(), err error,
) {
	cluster, err := connect.Open(kube)
	if err != nil {
		return "", nil, err
	}
	managers, err := leader.Find(ctx, cluster.Client, leaseNamespace)
	if err != nil {
		return "", nil, err
	}
	m, err := leaderOf(managers, owner)
	if err != nil {
		return "", nil, err
	}
	pod, _, _ := strings.Cut(m.Holder, "_") // the host's name and a unique number
	return tunnel(ctx, kube, m.Namespace, pod, port)
}

// leaderOf returns the manager that runs the objects of a kind in a namespace.
func leaderOf(managers []leader.Manager, owner record.Owner) (leader.Manager, error) {
	kind, _, _ := strings.Cut(strings.ToLower(owner.Kind), ".")
	if kind == "fluxsetup" {
		kind = "fluxjob" // its operator runs the queues, too
	}
	managers = slices.DeleteFunc(slices.Clone(managers), func(m leader.Manager) bool {
		return m.Holder == "" || !slices.Contains(m.Scope.Operators, kind) ||
			len(m.Scope.Namespaces) > 0 && owner.Namespace != "" && !slices.Contains(m.Scope.Namespaces, owner.Namespace)
	})
	switch len(managers) {
	case 0:
		return leader.Manager{}, fmt.Errorf("no manager with a lease runs objects of kind %s in namespace %q; "+
			"without a lease, name the manager with --address", owner.Kind, owner.Namespace)
	case 1:
		return managers[0], nil
	}
	var names []string
	for _, m := range managers {
		names = append(names, m.Namespace+"/"+m.Lease)
	}
	return leader.Manager{}, fmt.Errorf("several managers run objects of kind %s (leases %s); name one with --address",
		owner.Kind, strings.Join(names, ", "))
}

// fetch reads the passes over an owner.
func fetch(ctx context.Context, address string, owner record.Owner) (*record.List, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("--address must be host:port, got %q", address)
	}
	at := url.URL{Scheme: "http", Host: address, Path: record.Path, RawQuery: url.Values{
		"kind": {owner.Kind}, "namespace": {owner.Namespace}, "name": {owner.Name},
	}.Encode()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		// Not wrapped: what is advised about a refused connection is about the API server.
		return nil, errors.New(err.Error() + "; does the manager run with --record-bytes?")
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 512))
		return nil, fmt.Errorf("the manager answered %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	list, err := record.Read(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("the manager's answer: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("the manager has no recorded pass over %s %s: it keeps only the last ones that wrote something or failed, "+
			"since its start", owner.Kind, types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name})
	}
	return list, nil
}

// save writes a file, or to standard output.
func save(list *record.List, file string, out, errs io.Writer) error {
	if file == "" { // which may be a terminal: encoded as the JSON of other commands
		text, err := output.JSON(record.List{APIVersion: record.APIVersion, Kind: record.Kind, Items: list.Items}, "  ")
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the user's file
	if err != nil {
		return err
	}
	if err := errors.Join(list.Write(f), f.Close()); err != nil {
		return err
	}
	passes := "1 pass"
	if n := len(list.Items); n != 1 {
		passes = strconv.Itoa(n) + " passes"
	}
	_, err = fmt.Fprintf(errs, "%s in %s\n", passes, file)
	return err
}
