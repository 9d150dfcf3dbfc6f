// Package localwebhook lets the API server call webhooks on this machine: admission webhooks, and conversion webhooks of custom
// resources. Their configurations stay as they are installed in a production cluster, with the name of a Service and without a certificate.
//
// Whatever Service a configuration names, the API server connects to one URL, that of the operator under test. The operator serves with a
// certificate for localhost, which [Prepare] makes. The API server expects the name of the Service instead, so a [Redirect] sends it by
// way of a bridge in its own process, which presents a certificate of that name and passes everything on to the operator.
//
// An operator that makes its own certificate and puts its authority into the configuration (caBundle) is called directly.
package localwebhook
