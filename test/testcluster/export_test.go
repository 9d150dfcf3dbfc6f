package testcluster

// StartShared starts the cluster outside of a test, with fake nodes only, and returns its kubeconfig and host.
func StartShared() (kubeconfig, host string, err error) {
	WithNodes()(&shared.options)
	if err := shared.start(); err != nil {
		return "", "", err
	}
	return shared.kubeconfig, shared.config.Host, nil
}
