// Package quantity reads quantities that someone else wrote. [resource.ParseQuantity] computes a power of ten whose exponent may have
// nine digits, which takes hours, and can't be stopped: everyone who may write a quantity that a program decodes stops that program. The
// bounds here are those that the schemas of Armature's CRDs have, for what no schema checks: reviews that any pod may send, manifests,
// annotations, and fields of other types that hold a quantity. A field of type Quantity in an operator's own kind needs the bounds in its
// CRD: see builder/buildertest/crdtest.
package quantity
