// Package connect connects commands to a cluster as kubectl would: by its flags, its kubeconfig and its names of kinds.
package connect

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Flags returns kubectl's flags for connections. A command reads much at a time: it isn't held back as much as a controller.
func Flags() *genericclioptions.ConfigFlags {
	return genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(burst).WithDiscoveryQPS(qps)
}

const (
	qps   = 100
	burst = 300
)

// Cluster is a connection.
type Cluster struct {
	// Config is for clients of one's own.
	Config *rest.Config
	// Client reads and watches objects of any kind, the kinds of Kubernetes and Armature also by their Go types.
	Client client.WithWatch
	// Discovery says which kinds there are. It can be a [discovery.CachedDiscoveryInterface].
	Discovery discovery.DiscoveryInterface
	// Namespace is the one that was asked for, or that of the kubeconfig.
	Namespace string

	flags *genericclioptions.ConfigFlags
}

// Open connects to the cluster that the flags name.
func Open(flags *genericclioptions.ConfigFlags) (*Cluster, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = qps, burst
	config.WarningHandlerWithContext = warnings{}
	known, err := flags.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	ofFlags, err := flags.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	kinds, mapper := learning(known, ofFlags)
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	return &Cluster{Config: config, Client: c, Discovery: kinds, Namespace: namespace, flags: flags}, err
}

// Find returns the one object that "KIND/NAME" or "KIND NAME" names. Kinds go by all names that kubectl knows.
func (c *Cluster) Find(args []string) (*unstructured.Unstructured, error) {
	if name := strings.Join(args, "/"); strings.Count(name, "/") != 1 || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") {
		return nil, fmt.Errorf("want KIND/NAME or KIND NAME, got %q", strings.Join(args, " "))
	}
	infos, err := resource.NewBuilder(c.flags).Unstructured().NamespaceParam(c.Namespace).DefaultNamespace().
		ResourceTypeOrNameArgs(false, args...).Latest().Flatten().Do().Infos()
	if err != nil {
		return nil, WithNearest(c.flags, err)
	}
	if len(infos) != 1 {
		return nil, fmt.Errorf("want one object, %q names %d", strings.Join(args, " "), len(infos))
	}
	found, ok := infos[0].Object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%s: unexpected type %T", infos[0].ObjectName(), infos[0].Object)
	}
	return found, nil
}

// Split separates the object from its part: KIND/NAME [NODE], or KIND NAME [NODE].
func Split(args []string) (object []string, part string, err error) {
	n := 2
	if strings.Contains(args[0], "/") {
		n = 1
	}
	if len(args) < n || len(args) > n+1 {
		return nil, "", fmt.Errorf("want KIND/NAME [NODE], got %q", strings.Join(args, " "))
	}
	if len(args) == n+1 {
		part = args[n]
	}
	return args[:n], part, nil
}

// Some lists names for a message, of many the first.
func Some(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
