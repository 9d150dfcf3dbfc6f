package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/fakenode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/supervisor"
)

// statusTimeout bounds what `status` asks the API server.
const statusTimeout = 10 * time.Second

// status is what `status -o json` prints.
type status struct {
	Name       string                      `json:"name,omitempty"`
	Dir        string                      `json:"dir"`
	Running    bool                        `json:"running"`
	Healthy    bool                        `json:"healthy"`
	Problem    string                      `json:"problem,omitempty"`
	PID        int                         `json:"pid,omitempty"`
	Phase      clusterdir.Phase            `json:"phase,omitempty"`
	Since      *time.Time                  `json:"since,omitempty"`
	Version    string                      `json:"version,omitempty"`
	Server     string                      `json:"server,omitempty"`
	Kubeconfig string                      `json:"kubeconfig,omitempty"`
	NodesReady int                         `json:"nodesReady"`
	Nodes      int                         `json:"nodes"`
	Components []clusterdir.ComponentState `json:"components,omitempty"`
}

func newStatus() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell what is running; fails when the cluster is not up and healthy",
		Args:  cobra.NoArgs,
	}
	dirOf := dirFlag(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", `"json" for scripts`)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if output != "" && output != "json" {
			return fmt.Errorf("--output %q: accepted is json", output)
		}
		dir, err := dirOf()
		if err != nil {
			return err
		}
		s, err := loadStatus(cmd.Context(), dir)
		if err != nil {
			return err
		}
		if output == "json" {
			encoder := json.NewEncoder(os.Stdout)
			encoder.SetIndent("", "  ")
			err = encoder.Encode(s)
		} else {
			err = s.print(os.Stdout)
		}
		if err == nil && !s.Healthy {
			err = errSilent
		}
		return err
	}
	return cmd
}

func loadStatus(ctx context.Context, dir clusterdir.Dir) (*status, error) {
	s := &status{Dir: string(dir)}
	settings, err := dir.LoadSettings()
	switch {
	case os.IsNotExist(err):
		s.Problem = "no cluster here: run `devcluster up`"
		return s, nil
	case err != nil:
		return nil, err
	}
	s.Name, s.Kubeconfig, s.Server = settings.Name, dir.Kubeconfig(), settings.APIServerURL()
	s.Nodes = len(settings.Nodes) + settings.FakeNodes
	run, err := dir.LoadRun()
	if !dir.Running() || err != nil {
		s.Problem = "not running"
		return s, nil
	}
	s.Running, s.PID, s.Phase, s.Since, s.Version, s.Components = true, run.PID, run.Phase, &run.Since, run.Version, run.Components
	if run.Phase != clusterdir.Ready {
		s.Problem = "the cluster is " + string(run.Phase)
		return s, nil
	}
	for _, c := range run.Components {
		if c.State != "Running" {
			s.Problem = fmt.Sprintf("%s: %s", c.Name, c.State)
			return s, nil
		}
	}
	if err := s.askServer(ctx, settings); err != nil {
		s.Problem = err.Error()
		return s, nil
	}
	if s.NodesReady < s.Nodes {
		s.Problem = fmt.Sprintf("%d of %d nodes are ready", s.NodesReady, s.Nodes)
	}
	s.Healthy = s.Problem == ""
	return s, nil
}

func (s *status) askServer(ctx context.Context, settings *clusterdir.Settings) error {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return err
	}
	if settings.Containers {
		config.Dial = containernode.Dialer(s.PID)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("the API server is not ready: %w", err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for _, node := range nodes.Items {
		if node.Labels[supervisor.NodeLabel(settings)] == "" && node.Labels[fakenode.Label] == "" {
			continue // somebody's own
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				s.NodesReady++
			}
		}
	}
	return nil
}

func (s *status) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	state := string(s.Phase)
	if !s.Running {
		state = "Stopped"
	}
	if s.Problem != "" {
		state += " (" + s.Problem + ")"
	}
	fmt.Fprintf(w, "Cluster:\t%s\nDirectory:\t%s\nState:\t%s\n", s.Name, s.Dir, state)
	if s.Running {
		fmt.Fprintf(w, "Kubernetes:\t%s\nNodes ready:\t%d of %d\nKubeconfig:\t%s\nSupervisor:\tpid %d, up %s\n",
			s.Version, s.NodesReady, s.Nodes, s.Kubeconfig, s.PID, time.Since(*s.Since).Round(time.Second))
	}
	if err := w.Flush(); err != nil || len(s.Components) == 0 {
		return err
	}
	fmt.Fprintln(w, "\nCOMPONENT\tPID\tSTATE\tRESTARTS\tENDPOINT")
	for _, c := range s.Components {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\n", c.Name, c.PID, c.State, c.Restarts, c.Endpoint)
	}
	return w.Flush()
}
