package v1beta1

// ScalingSpec says how nodes of a cluster are scaled. Embed it inline in the spec of a kind of yours, by convention
// called <App>Scaling, which has a controller of its own.
//
// What is scaled is left alone by the cluster's controller: its replicas, and the size of its volumes. An entry with a
// mistake is told of in status.nodes, and in the conditions; the node stays as it is, and other entries go on.
type ScalingSpec struct {
	// Cluster is the name of the cluster, in the same namespace. Default: the name of this object.
	// +optional
	Cluster string `json:"cluster,omitempty"`

	// Interval is how often sources are asked: a number of seconds or a text such as "30s", at least a second.
	// Default: 15s.
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// External is where numbers come from, for all nodes that have no source of their own.
	// +optional
	External *ExternalMetric `json:"external,omitempty"`

	// Autoscaling says what to do, node by node.
	// +optional
	// +listType=map
	// +listMapKey=name
	Autoscaling []NodeScaling `json:"autoscaling,omitempty"`
}

// ExternalMetric is an endpoint that tells numbers, under "spec" as other things that a cluster depends on.
type ExternalMetric struct {
	// Spec is the endpoint.
	// +required
	Spec HTTPSource `json:"spec"`
}

// NodeScaling says how one node is scaled.
type NodeScaling struct {
	// Name of the node, or of its StatefulSet or Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Spec says by what the number of pods goes. Default: it isn't scaled.
	// +optional
	Spec *ReplicaScaling `json:"spec,omitempty"`

	// Storage says by what the size of the node's volumes goes. Volumes only grow. Default: they don't.
	// +optional
	// +listType=map
	// +listMapKey=name
	Storage []StorageScaling `json:"storage,omitempty"`
}

// ReplicaScaling scales the number of a node's pods, between a least and a most, so that a number stays near a
// threshold: the number is what one pod has on average, as that of CPU is, so that the pods wanted are
// replicas * number / threshold, rounded up. A number within a tenth of the threshold changes nothing.
type ReplicaScaling struct {
	// Enable is false to leave the number of pods to the cluster's spec. Default: true.
	// +optional
	Enable *bool `json:"enable,omitempty"`

	// MinReplica is the least number of pods. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MinReplica *int32 `json:"minReplica,omitempty"`

	// MaxReplica is the most pods there may be. It is required, and not less than minReplica.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MaxReplica *int32 `json:"maxReplica,omitempty"`

	// Min is another name of minReplica.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Min *int32 `json:"min,omitempty"`

	// Max is another name of maxReplica.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Max *int32 `json:"max,omitempty"`

	// Threshold is the number that one pod should have: a whole number, or a text such as "0.75", above 0. Of CPU and
	// memory it is the percentage of what the pods request. It is required.
	// +optional
	Threshold Number `json:"threshold,omitempty"`

	// CoolDown is how long the node is left alone after it was scaled: a number of seconds or a text such as "5m".
	// Default: 5m.
	// +optional
	CoolDown Duration `json:"coolDown,omitempty"`

	// Source is where the number comes from. Default: external of the spec.
	// +optional
	Source *Source `json:"source,omitempty"`
}

// StorageScaling grows the volumes of a node, where their storage class allows it, when more of them is in use than a
// threshold.
type StorageScaling struct {
	// Name of the storageConfig.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// Threshold is the number above which the volumes grow: a whole number, or a text such as "0.75", above 0; what the
	// number is, the source says, as a rule the percentage in use. It is required.
	// +optional
	Threshold Number `json:"threshold,omitempty"`

	// Increase is by how much they grow at a time: a quantity such as 10Gi, or a percentage such as 20%. Default: 20%.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Increase string `json:"increase,omitempty"`

	// Max is the most that each volume may request, such as 100Gi.
	// +required
	Max Size `json:"max"`

	// CoolDown is how long the volumes are left alone after they grew: a number of seconds or a text such as "6h".
	// Default: 6h, which is how long some providers want.
	// +optional
	CoolDown Duration `json:"coolDown,omitempty"`

	// Source is where the number comes from. Default: external of the spec. It can't be a resource.
	// +optional
	Source *Source `json:"source,omitempty"`
}

// Source is where a number comes from. Exactly one of its fields is given.
type Source struct {
	// External is an endpoint that answers a GET with a number.
	// +optional
	External *HTTPSource `json:"external,omitempty"`

	// Prometheus is a query.
	// +optional
	Prometheus *PrometheusSource `json:"prometheus,omitempty"`

	// Resource is cpu or memory: the node is scaled by a HorizontalPodAutoscaler (autoscaling/v2), which the operator
	// makes. The cluster needs a metrics server.
	// +optional
	// +kubebuilder:validation:Enum=cpu;memory
	Resource string `json:"resource,omitempty"`
}

// HTTPSource is an endpoint that answers a GET with a number: status 200, and a body of at most 64 KiB which is one
// number and nothing else but white space. A redirect is followed to the same scheme, host and port only.
type HTTPSource struct {
	// URL of the endpoint, http or https, without user and password. {namespace}, {cluster} and {node} in it are replaced
	// by what is asked for; if {node} isn't in it, the query parameters namespace, cluster and node are added.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`

	// HTTPAccess says how it is reached.
	HTTPAccess `json:",inline"`
}

// PrometheusSource is a query to a Prometheus server whose result is one number: a scalar, or a vector of one element.
type PrometheusSource struct {
	// URL of the server, http or https, without user and password; the query goes to /api/v1/query below it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`

	// Query in PromQL. {namespace}, {cluster} and {node} in it are replaced by what is asked for.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query"`

	// HTTPAccess says how it is reached.
	HTTPAccess `json:",inline"`
}

// HTTPAccess says how an endpoint is reached.
type HTTPAccess struct {
	// Timeout is how long an answer may take in all: a number of seconds or a text such as "2s", at most 30s. Default: 5s.
	// +optional
	Timeout Duration `json:"timeout,omitempty"`

	// SecretRef names a Secret of the same namespace to authenticate with: token is sent as a bearer token, username and
	// password as basic authentication. It is sent to the URL's scheme, host and port only. Default: none.
	// +optional
	SecretRef *SecretName `json:"secretRef,omitempty"`

	// TLS says whom to trust. Default: the machine's authorities.
	// +optional
	TLS *TLS `json:"tls,omitempty"`
}

// SecretName names a Secret of the same namespace.
type SecretName struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// TLS says whom to trust, and as whom to come.
type TLS struct {
	// SecretRef names a Secret of the same namespace: ca.crt has the authorities to trust in place of the machine's,
	// tls.crt and tls.key a client's certificate and key. One of them must be there.
	// +optional
	SecretRef *SecretName `json:"secretRef,omitempty"`

	// ServerName is the name that the server's certificate must have. Default: the host of the URL.
	// +optional
	ServerName string `json:"serverName,omitempty"`
}
