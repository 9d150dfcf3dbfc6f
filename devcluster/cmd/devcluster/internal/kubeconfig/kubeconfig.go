package kubeconfig

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Entry is one way into the cluster. All certificates are embedded, so that the file can be copied.
type Entry struct {
	// Name is the name of the context, the cluster and the user.
	Name   string
	Server string
	CAFile string
	// CertFile and KeyFile are the user's client certificate.
	CertFile, KeyFile string
}

// Write makes file hold this entry alone.
func (e Entry) Write(file string) error {
	config := api.NewConfig()
	if err := e.addTo(config); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", file, err)
	}
	return clientcmd.WriteToFile(*config, file)
}

// Merge puts the entry into file and makes it the current one. Everything else in the file stays.
func (e Entry) Merge(file string) error {
	config, err := load(file)
	if err != nil {
		return err
	}
	if err := e.addTo(config); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", file, err)
	}
	return clientcmd.WriteToFile(*config, file)
}

// Remove takes the entry called name out of file. A file left with nothing in it is removed.
func Remove(file, name string) error {
	config, err := load(file)
	if err != nil {
		return err
	}
	if _, ours := config.Contexts[name]; !ours {
		return nil
	}
	delete(config.Clusters, name)
	delete(config.AuthInfos, name)
	delete(config.Contexts, name)
	if config.CurrentContext == name {
		config.CurrentContext = ""
	}
	if len(config.Clusters)+len(config.AuthInfos)+len(config.Contexts) == 0 {
		return os.Remove(file)
	}
	return clientcmd.WriteToFile(*config, file)
}

func load(file string) (*api.Config, error) {
	config, err := clientcmd.LoadFromFile(file)
	if os.IsNotExist(err) {
		return api.NewConfig(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", file, err)
	}
	return config, nil
}

func (e Entry) addTo(config *api.Config) error {
	cluster := api.NewCluster()
	cluster.Server = e.Server
	user := api.NewAuthInfo()
	for _, f := range []struct {
		file string
		into *[]byte
	}{
		{e.CAFile, &cluster.CertificateAuthorityData},
		{e.CertFile, &user.ClientCertificateData},
		{e.KeyFile, &user.ClientKeyData},
	} {
		data, err := os.ReadFile(f.file)
		if err != nil {
			return err
		}
		*f.into = data
	}
	context := api.NewContext()
	context.Cluster, context.AuthInfo = e.Name, e.Name
	config.Clusters[e.Name], config.AuthInfos[e.Name], config.Contexts[e.Name] = cluster, user, context
	config.CurrentContext = e.Name
	return nil
}
