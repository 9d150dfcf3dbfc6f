package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Database is a database of a PostgreSQL server, with its users.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Database",type=string,JSONPath=`.status.database`
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec   `json:"spec,omitempty"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseSpec is the desired state.
type DatabaseSpec struct {
	// Users log in to the database. Each has all rights in it, and none elsewhere. The operator drops a user that is removed here; what it
	// has made in the database stays. Default: none.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Users []User `json:"users,omitempty"`
	// DeletionPolicy says what becomes of the database, and of all data in it, when this object is deleted: the operator drops it (Delete),
	// or keeps it (Retain). A later object of the same name then takes it over. The users are dropped in any case. Default: Retain.
	// +kubebuilder:default=Retain
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy says what becomes of a database when its object is deleted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

// The policies.
const (
	Retain DeletionPolicy = "Retain"
	Delete DeletionPolicy = "Delete"
)

// User is a user of a database.
type User struct {
	// Name distinguishes the user from others of the database. The login name is in the status.
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=30
	Name string `json:"name"`
	// PasswordSecret names a Secret in this namespace, whose key "password" has the password, in printable ASCII characters. Without it the
	// user can't log in at first; a user who has a password keeps it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PasswordSecret string `json:"passwordSecret"`
	// ConnectionLimit is the number of connections that the user may have at a time. Default: -1, no limit.
	// +kubebuilder:default=-1
	// +kubebuilder:validation:Minimum=-1
	// +optional
	ConnectionLimit *int32 `json:"connectionLimit,omitempty"`
}

// DatabaseStatus is the observed state.
type DatabaseStatus struct {
	// Host and Port are the address of the server, as the operator connects to it; Database is the name of the database there. Empty until
	// the database exists.
	// +optional
	Host string `json:"host,omitempty"`
	// +optional
	Port int32 `json:"port,omitempty"`
	// +optional
	Database string `json:"database,omitempty"`
	// Users are those that exist.
	// +listType=map
	// +listMapKey=name
	// +optional
	Users []UserStatus `json:"users,omitempty"`
	// Conditions are Ready, Progressing and Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// UserStatus is a user that exists.
type UserStatus struct {
	// Name is that of the spec.
	Name string `json:"name"`
	// Login is the name with which the user logs in.
	Login string `json:"login"`
}

// Conditions returns the conditions, in which the builder reports.
func (d *Database) Conditions() *[]metav1.Condition { return &d.Status.Conditions }

// DatabaseList is a list of Databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}
