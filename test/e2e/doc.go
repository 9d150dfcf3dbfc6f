// Package e2e tests Armature as it is installed: the image, the chart, and the manager under its own permissions, on nodes
// that run containers (devcluster up --containers), without a way out to the internet.
//
//	make e2e      # Linux, root
//
// hack/e2e.sh builds what is needed, starts the cluster, loads the images and runs this package's test binary in the
// cluster's network. The tests have the build tag e2e, since nothing of it works elsewhere. Environment:
//
//	KUBECONFIG          the cluster
//	E2E_HELM            helm
//	E2E_IMAGE_TAG       tag of the images that were loaded
//	E2E_PREVIOUS        sources of the previous release, whose image has the tag previous; default: this one
//	E2E_FLUX_IMAGE      image with flux on its PATH, if there is one
//	E2E_LOGS            directory for what helps to understand failures
//	E2E_CLUSTER         the cluster's directory
//	E2E_DEVCLUSTER      devcluster
//	E2E_SEED            seed of the soak, to run one again; a new one by default (-e2e.seed)
//	E2E_SOAK            how long the soak is, 4m by default; 10m or more before a release (-e2e.soak)
package e2e
