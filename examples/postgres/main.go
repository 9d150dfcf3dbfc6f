// Command postgres runs the operator of Databases, on the cluster of your kubeconfig and the PostgreSQL server of POSTGRES_URL.
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/program"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/operator"
	"github.com/armature-dev/armature/examples/postgres/server"
)

//go:generate go tool -modfile=../../tools/gen/go.mod controller-gen object crd paths=./api/... output:crd:dir=config
//go:generate go run github.com/armature-dev/armature/tools/trimcrd config
//go:generate go run . role -crds config -samples sample.yaml -output role.yaml

func main() {
	program.Main(program.Options{Name: "postgres", AddToScheme: v1.AddToScheme, Setup: setup})
}

func setup(mgr manager.Manager) error {
	s, err := server.At(os.Getenv("POSTGRES_URL"))
	if err != nil {
		return fmt.Errorf("POSTGRES_URL: %w", err)
	}
	return operator.Database(mgr, s).Complete()
}
