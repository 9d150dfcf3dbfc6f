package v1beta1

// ScalingSpec defines how nodes of a cluster are scaled. Embed it inline in the spec of your own kind, by convention
// called <App>Scaling, which has its own controller.
//
// The cluster's controller ignores the replicas of a scaled node, and the size of its volumes. status.nodes and the
// conditions report an invalid entry; its node stays unchanged, and other entries continue.
type ScalingSpec struct {
	// Cluster is the name of the cluster, in the same namespace. Default: the name of this object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`

	// Interval is the time between two requests to a source: a number of seconds or a string such as "30s", at least a
	// second. Default: 15s.
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// External is the source of all nodes without their own.
	// +optional
	External *ExternalMetric `json:"external,omitempty"`

	// Autoscaling defines the scaling of each node.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +listType=map
	// +listMapKey=name
	Autoscaling []NodeScaling `json:"autoscaling,omitempty"`
}

// ExternalMetric is an endpoint that returns numbers, under "spec" as other external dependencies.
type ExternalMetric struct {
	// Spec is the endpoint.
	// +required
	Spec HTTPSource `json:"spec"`
}

// NodeScaling defines how one node is scaled.
type NodeScaling struct {
	// Name of the node, or of its StatefulSet or Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Spec scales the number of pods. Default: it isn't scaled.
	// +optional
	Spec *ReplicaScaling `json:"spec,omitempty"`

	// Storage scales the size of the node's volumes. Volumes only grow. Default: they aren't scaled.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Storage []StorageScaling `json:"storage,omitempty"`
}

// ReplicaScaling scales the number of a node's pods, between a minimum and a maximum, to keep a number near a threshold.
// The number is the average of one pod, like CPU utilisation, so that the desired number of pods is replicas * number /
// threshold, rounded up. A number within a tenth of the threshold changes nothing.
type ReplicaScaling struct {
	// Enable is false to use the number of pods in the cluster's spec. Default: true.
	// +optional
	Enable *bool `json:"enable,omitempty"`

	// MinReplica is the minimum number of pods. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MinReplica *int32 `json:"minReplica,omitempty"`

	// MaxReplica is the maximum number of pods. It is required, and not less than minReplica.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MaxReplica *int32 `json:"maxReplica,omitempty"`

	// Min is an alternative name of minReplica.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Min *int32 `json:"min,omitempty"`

	// Max is an alternative name of maxReplica.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Max *int32 `json:"max,omitempty"`

	// Threshold is the target number of one pod: a whole number, or a string such as "0.75", above 0. For CPU and memory
	// it is the percentage of the pods' requests. It is required.
	// +optional
	Threshold Number `json:"threshold,omitempty"`

	// CoolDown is the time after a change in which the node isn't scaled: a number of seconds or a string such as "5m".
	// Default: 5m.
	// +optional
	CoolDown Duration `json:"coolDown,omitempty"`

	// Source is the source of the number. Default: external of the spec.
	// +optional
	Source *Source `json:"source,omitempty"`
}

// StorageScaling enlarges the volumes of a node, where their storage class allows it, when their usage exceeds a
// threshold.
type StorageScaling struct {
	// Name of the storageConfig.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Threshold is the number above which the volumes grow: a whole number, or a string such as "0.75", above 0; the
	// source defines the number, usually the percentage in use. It is required.
	// +optional
	Threshold Number `json:"threshold,omitempty"`

	// Increase is the amount of one increase: a quantity such as 10Gi, or a percentage such as 20%. Default: 20%.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Increase string `json:"increase,omitempty"`

	// Max is the maximum request of each volume, such as 100Gi.
	// +required
	Max Size `json:"max"`

	// CoolDown is the time after an increase in which the volumes don't grow: a number of seconds or a string such as
	// "6h". Default: 6h, the minimum of some providers.
	// +optional
	CoolDown Duration `json:"coolDown,omitempty"`

	// Source is the source of the number. Default: external of the spec. It can't be a resource.
	// +optional
	Source *Source `json:"source,omitempty"`
}

// Source is the source of a number. Exactly one of its fields is set.
type Source struct {
	// External is an endpoint that answers a GET with a number.
	// +optional
	External *HTTPSource `json:"external,omitempty"`

	// Prometheus is a query.
	// +optional
	Prometheus *PrometheusSource `json:"prometheus,omitempty"`

	// Resource is cpu or memory: a HorizontalPodAutoscaler (autoscaling/v2), which the operator creates, scales the
	// node. The cluster needs a metrics server.
	// +optional
	// +kubebuilder:validation:Enum=cpu;memory
	Resource string `json:"resource,omitempty"`
}

// HTTPSource is an endpoint that answers a GET with a number: status 200, and a body of at most 64 KiB with one number
// and optional white space. A redirect is followed to the same scheme, host and port only.
type HTTPSource struct {
	// URL of the endpoint, http or https, without user and password. {namespace}, {cluster} and {node} in it are
	// replaced by those of the node; if it doesn't contain {node}, the query parameters namespace, cluster and node are
	// added.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`

	// HTTPAccess defines the access to the endpoint.
	HTTPAccess `json:",inline"`
}

// PrometheusSource is a query to a Prometheus server whose result is one number: a scalar, or a vector of one element.
type PrometheusSource struct {
	// URL of the server, http or https, without user and password; the query goes to /api/v1/query below it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`

	// Query in PromQL. {namespace}, {cluster} and {node} in it are replaced by those of the node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query"`

	// HTTPAccess defines the access to the server.
	HTTPAccess `json:",inline"`
}

// HTTPAccess defines the access to an endpoint.
type HTTPAccess struct {
	// Timeout is the maximum time for an answer: a number of seconds or a string such as "2s", at most 30s. Default: 5s.
	// +optional
	Timeout Duration `json:"timeout,omitempty"`

	// SecretRef names a Secret of the same namespace to authenticate with: token is sent as a bearer token, username and
	// password as basic authentication. It is sent to the URL's scheme, host and port only. Default: none.
	// +optional
	SecretRef *SecretName `json:"secretRef,omitempty"`

	// TLS defines the trusted authorities. Default: the machine's authorities.
	// +optional
	TLS *TLS `json:"tls,omitempty"`
}

// SecretName names a Secret of the same namespace.
type SecretName struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// TLS defines the trusted authorities and the client certificate.
type TLS struct {
	// SecretRef names a Secret of the same namespace: ca.crt has the authorities to trust in place of the machine's,
	// tls.crt and tls.key a client's certificate and key. One of them must be there.
	// +optional
	SecretRef *SecretName `json:"secretRef,omitempty"`

	// ServerName is the name that the server's certificate must have. Default: the host of the URL.
	// +optional
	ServerName string `json:"serverName,omitempty"`
}
